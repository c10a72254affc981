// SPDX-License-Identifier: Apache-2.0
//! A scheduler plugin: pods go to nodes whose name ends with what the configuration says.

mod host {
    #[link(wasm_import_module = "k8s.io/scheduler")]
    extern "C" {
        pub fn get_config(buf: *mut u8, limit: usize) -> usize;
        #[link_name = "currentNodeName"]
        pub fn current_node_name(buf: *mut u8, limit: usize) -> usize;
        #[link_name = "result.status_reason"]
        pub fn status_reason(p: *const u8, n: usize);
    }
}

const SUCCESS: i32 = 0;
const UNSCHEDULABLE: i32 = 2;

/// The host writes nothing into a buffer that is too small, and tells how much is needed.
fn text(get: unsafe extern "C" fn(*mut u8, usize) -> usize) -> String {
    let mut bytes = vec![0; unsafe { get(std::ptr::null_mut(), 0) }];
    unsafe { get(bytes.as_mut_ptr(), bytes.len()) };
    String::from_utf8_lossy(&bytes).into_owned()
}

#[no_mangle]
pub extern "C" fn filter() -> i32 {
    let (node, end) = (text(host::current_node_name), text(host::get_config));
    if node.ends_with(&end) {
        return SUCCESS;
    }
    let why = format!("{node} does not end with {end}");
    unsafe { host::status_reason(why.as_ptr(), why.len()) };
    UNSCHEDULABLE
}
