// SPDX-License-Identifier: Apache-2.0
//! The host's functions (docs/guest-abi.md section 2), and the result that parking calls leave.
//!
//! In a module they are imports. Elsewhere `crate::testing` plays the host, so that operators have
//! ordinary unit tests.

#[cfg(target_arch = "wasm32")]
mod host {
    #[link(wasm_import_module = "dormouse_v1")]
    extern "C" {
        fn declare(p: *const u8, n: usize) -> i32;
        fn result_size() -> u32;
        fn result_read(p: *mut u8, n: usize) -> u32;
        fn fail_message(p: *const u8, n: usize);
        fn log(level: u32, p: *const u8, n: usize, kv: *const u8, n_kv: usize);
        fn api_request(head: *const u8, n_head: usize, body: *const u8, n_body: usize) -> i64;
        fn cache_get(p: *const u8, n: usize) -> i64;
        fn cache_list(p: *const u8, n: usize) -> i64;
        fn config_get(p: *const u8, n: usize) -> i64;
        fn enqueue(p: *const u8, n: usize);
        fn event(p: *const u8, n: usize);
        fn metric(index: u32, p: *const u8, n: usize, bits: i64);
    }

    // The host reads (or, for result_read, writes) exactly the ranges it is given, before it returns.
    pub(crate) fn call_declare(json: &[u8]) -> i64 {
        i64::from(unsafe { declare(json.as_ptr(), json.len()) })
    }
    pub(crate) fn call_api_request(head: &[u8], body: &[u8]) -> i64 {
        unsafe { api_request(head.as_ptr(), head.len(), body.as_ptr(), body.len()) }
    }
    pub(crate) fn call_cache_get(query: &[u8]) -> i64 {
        unsafe { cache_get(query.as_ptr(), query.len()) }
    }
    pub(crate) fn call_cache_list(query: &[u8]) -> i64 {
        unsafe { cache_list(query.as_ptr(), query.len()) }
    }
    pub(crate) fn call_config_get(name: &[u8]) -> i64 {
        unsafe { config_get(name.as_ptr(), name.len()) }
    }
    pub(crate) fn call_fail_message(text: &[u8]) {
        unsafe { fail_message(text.as_ptr(), text.len()) }
    }
    pub(crate) fn call_log(level: u32, text: &[u8], pairs: &[u8]) {
        unsafe { log(level, text.as_ptr(), text.len(), pairs.as_ptr(), pairs.len()) }
    }
    pub(crate) fn call_enqueue(json: &[u8]) {
        unsafe { enqueue(json.as_ptr(), json.len()) }
    }
    pub(crate) fn call_event(json: &[u8]) {
        unsafe { event(json.as_ptr(), json.len()) }
    }
    pub(crate) fn call_metric(index: u32, labels: &[u8], value: f64) {
        unsafe { metric(index, labels.as_ptr(), labels.len(), value.to_bits() as i64) }
    }
    pub(crate) fn take_result() -> Vec<u8> {
        let mut bytes = vec![0; unsafe { result_size() } as usize];
        let n = unsafe { result_read(bytes.as_mut_ptr(), bytes.len()) } as usize;
        bytes.truncate(n);
        bytes
    }
}

#[cfg(not(target_arch = "wasm32"))]
use crate::testing as host;

pub(crate) use host::*;
