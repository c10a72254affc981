// SPDX-License-Identifier: Apache-2.0

//! The Rust twin: G2, built by rustc alone for wasm32-wasip1 where its standard library is there.
//! A command like the paper's guests, so its instance lives on after main; state lives in a HashMap with
//! a random seed, on the heap and in thread locals. After every wake-up it prints
//!
//!     probe sum <events> <checksum>
//!
//! and starts the next timer of TICK ms (default 20, 0 for none). Expected of the host: the same history
//! gives the same sums, with and without sleep in between.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

#[link(wasm_import_module = "delay-abi")]
extern "C" {
    fn delay(ms: u64) -> u64;
}

#[derive(Default)]
struct State {
    events: u64,
    counts: HashMap<String, u64>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn event(v: u64) {
    STATE.with(|s| {
        let mut s = s.borrow_mut();
        s.events += 1;
        let key = format!("key-{}", (v ^ s.events.wrapping_mul(2654435761)) % 97);
        *s.counts.entry(key).or_default() += s.events;
        let sorted: BTreeMap<_, _> = s.counts.iter().collect();
        let mut h: u64 = 14695981039346656037;
        for b in format!("{sorted:?}").bytes() {
            h = (h ^ b as u64).wrapping_mul(1099511628211);
        }
        println!("probe sum {} {}", s.events, h);
    });
}

fn next() {
    let ms = std::env::var("TICK").ok().and_then(|v| v.parse().ok()).unwrap_or(20);
    if ms > 0 {
        unsafe { delay(ms) };
    }
}

#[no_mangle]
pub extern "C" fn allocate(n: u32) -> *mut u8 {
    let mut v = Vec::with_capacity(n as usize); // dangling, but not null, for 0
    let p = v.as_mut_ptr();
    std::mem::forget(v);
    p
}

/// # Safety
/// The host passes what allocate() returned.
#[no_mangle]
pub unsafe extern "C" fn wakeup(id: u64, finished: u32, p: *mut u8, n: u32) {
    let mut h = id;
    if !p.is_null() {
        for b in Vec::from_raw_parts(p, n as usize, n as usize) {
            h = (h ^ b as u64).wrapping_mul(1099511628211);
        }
    }
    event(h);
    if finished != 0 && p.is_null() {
        next();
    }
}

fn main() {
    event(0);
    next();
}
