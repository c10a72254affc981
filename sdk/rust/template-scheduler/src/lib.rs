//! The plugin: nodes without a label are refused. The label's name is the configuration, guestConfig.

mod host {
    #[link(wasm_import_module = "k8s.io/scheduler")]
    extern "C" {
        pub fn get_config(buf: *mut u8, limit: usize) -> usize;
        #[link_name = "result.status_reason"]
        pub fn status_reason(p: *const u8, n: usize);
    }
    #[link(wasm_import_module = "dormouse_scheduler")]
    extern "C" {
        /// One field of a node, by the numbers of the fields that lead to it; an empty name is the hook's node.
        #[link_name = "nodeField"]
        pub fn node_field(name: *const u8, name_len: usize, path: *const u8, path_len: usize, key: *const u8, key_len: usize,
                          buf: *mut u8, limit: usize) -> i32;
    }
}

const SUCCESS: i32 = 0;
const UNSCHEDULABLE: i32 = 2;
/// metadata (1), labels (11) of Kubernetes' protobuf message.
const LABELS: [u8; 2] = [1, 11];

/// The host writes nothing into a buffer that is too small, and says how much is needed.
fn config() -> String {
    let mut bytes = vec![0; unsafe { host::get_config(std::ptr::null_mut(), 0) }];
    unsafe { host::get_config(bytes.as_mut_ptr(), bytes.len()) };
    String::from_utf8_lossy(&bytes).into_owned()
}

fn has_label(key: &str) -> bool {
    let (name, buf) = (std::ptr::null(), std::ptr::null_mut());
    unsafe { host::node_field(name, 0, LABELS.as_ptr(), LABELS.len(), key.as_ptr(), key.len(), buf, 0) >= 0 }
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
