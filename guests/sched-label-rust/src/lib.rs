// SPDX-License-Identifier: Apache-2.0
//! A scheduler plugin: pods go to nodes that have a label, whose name is the configuration.

mod host {
    #[link(wasm_import_module = "k8s.io/scheduler")]
    extern "C" {
        pub fn get_config(buf: *mut u8, limit: usize) -> usize;
        #[link_name = "result.status_reason"]
        pub fn status_reason(p: *const u8, n: usize);
    }
    #[link(wasm_import_module = "dormouse_scheduler")]
    extern "C" {
        #[link_name = "nodeField"]
        #[rustfmt::skip]
        pub fn node_field(name: *const u8, name_len: usize, path: *const u8, path_len: usize,
                          key: *const u8, key_len: usize, buf: *mut u8, limit: usize) -> i32;
    }
}

const SUCCESS: i32 = 0;
const UNSCHEDULABLE: i32 = 2;

/// The path to the labels of an object: metadata is field 1 of a node, labels field 11 of metadata.
const LABELS: [u8; 2] = [1, 11];

/// The host writes nothing into a buffer that is too small, and says how much is needed.
fn config() -> String {
    let mut bytes = vec![0; unsafe { host::get_config(std::ptr::null_mut(), 0) }];
    unsafe { host::get_config(bytes.as_mut_ptr(), bytes.len()) };
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Of the node that the hook is about, whose name need not be given.
fn has_label(key: &str) -> bool {
    let (no_name, no_room) = (std::ptr::null(), std::ptr::null_mut());
    let (path, key) = ((LABELS.as_ptr(), LABELS.len()), (key.as_ptr(), key.len()));
    unsafe { host::node_field(no_name, 0, path.0, path.1, key.0, key.1, no_room, 0) >= 0 }
}

#[no_mangle]
pub extern "C" fn filter() -> i32 {
    let key = config();
    if has_label(&key) {
        return SUCCESS;
    }
    let why = format!("the node has no label {key}");
    unsafe { host::status_reason(why.as_ptr(), why.len()) };
    UNSCHEDULABLE
}
