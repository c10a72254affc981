// SPDX-License-Identifier: Apache-2.0
//! Wasmtime's C API as one static library, and the functions that it lacks.
//!
//! The re-export keeps every `no_mangle` function of the C API in the archive. The functions below
//! are declared in `include/dm_engine.h`; they reach behind the C API's handles, which are structs
//! with one field, by pointer casts that the assertions guard.

use std::{
    ffi::{CStr, c_char, c_void},
    fs::File,
    mem::{align_of, size_of},
    num::NonZeroUsize,
    os::fd::BorrowedFd,
};

use wasmtime_c_api::wasmtime::{
    Config, Engine, Error, Module, ModuleVersionStrategy, ResourceLimiter, Result,
    WasmBacktraceDetails,
};
pub use wasmtime_c_api::*;

/// A handle and the only field in it. Equal size and alignment leave the field no other place than
/// the start of the handle.
const fn is_wrapper<H, F>() -> bool {
    size_of::<H>() == size_of::<F>() && align_of::<H>() == align_of::<F>()
}
const _: () = assert!(is_wrapper::<wasm_config_t, Config>());
const _: () = assert!(is_wrapper::<wasm_engine_t, Engine>());
const _: () = assert!(is_wrapper::<wasmtime_module_t, Module>());
const _: () = assert!(is_wrapper::<wasmtime_store_t, WasmtimeStore>());

type Failure = Option<Box<wasmtime_error_t>>;

fn fail(error: Error) -> Failure {
    Some(Box::new(wasmtime_error_t::from(error)))
}

fn config(handle: &mut wasm_config_t) -> &mut Config {
    // SAFETY: `is_wrapper` holds.
    unsafe { &mut *(handle as *mut wasm_config_t).cast::<Config>() }
}

fn engine(handle: &wasm_engine_t) -> &Engine {
    // SAFETY: `is_wrapper` holds.
    unsafe { &*(handle as *const wasm_engine_t).cast::<Engine>() }
}

/// Creates an engine; unlike `wasm_engine_new_with_config` it returns an inconsistent
/// configuration as an error instead of aborting. Consumes the configuration in any case.
#[unsafe(no_mangle)]
pub extern "C" fn dm_engine_new(
    mut handle: Box<wasm_config_t>,
    out: &mut *mut wasm_engine_t,
) -> Failure {
    match Engine::new(config(&mut handle)) {
        Ok(engine) => {
            *out = Box::into_raw(Box::new(engine)).cast::<wasm_engine_t>();
            None
        }
        Err(error) => fail(error),
    }
}

/// Loads a module that `dm_engine_precompile` made from an open file; the descriptor stays the
/// caller's and may be closed afterwards.
///
/// # Safety
/// The file must be one that our compiler wrote, unchanged, and must never change while loaded.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dm_engine_module_from_fd(
    handle: &wasm_engine_t,
    fd: i32,
    out: &mut *mut wasmtime_module_t,
) -> Failure {
    if fd < 0 {
        return fail(Error::msg("bad file descriptor"));
    }
    // SAFETY: the caller keeps the descriptor open during this call.
    let copy = match unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned() {
        Ok(copy) => copy,
        Err(error) => return fail(error.into()),
    };
    // SAFETY: the caller vouches for the contents.
    match unsafe { Module::deserialize_open_file(engine(handle), File::from(copy)) } {
        Ok(module) => {
            *out = Box::into_raw(Box::new(module)).cast::<wasmtime_module_t>();
            None
        }
        Err(error) => fail(error),
    }
}

/// Receives compiled code; `env` is passed through from `dm_engine_precompile`.
pub type Sink = extern "C" fn(env: *mut c_void, bytes: *const u8, len: usize);

/// Compiles a module and gives the result to `sink` in one call, without loading it.
///
/// # Safety
/// `wasm` must point to `len` readable bytes.
#[cfg(feature = "compiler")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dm_engine_precompile(
    handle: &wasm_engine_t,
    wasm: *const u8,
    len: usize,
    sink: Sink,
    env: *mut c_void,
) -> Failure {
    // SAFETY: the caller's promise.
    let wasm = unsafe { std::slice::from_raw_parts(wasm, len) };
    match engine(handle).precompile_module(wasm) {
        Ok(bytes) => {
            sink(env, bytes.as_ptr(), bytes.len());
            None
        }
        Err(error) => fail(error),
    }
}

/// Leaves the table from code offsets to wasm offsets out: smaller files, coarser backtraces.
#[unsafe(no_mangle)]
pub extern "C" fn dm_config_address_map_set(handle: &mut wasm_config_t, enable: bool) {
    config(handle).generate_address_map(enable);
}

/// Ignores WASMTIME_BACKTRACE_DETAILS, which would otherwise change a compile-time setting.
#[unsafe(no_mangle)]
pub extern "C" fn dm_config_backtrace_details_off(handle: &mut wasm_config_t) {
    config(handle).wasm_backtrace_details(WasmBacktraceDetails::Disable);
}

/// Whether compiled files carry ELF symbols.
#[unsafe(no_mangle)]
pub extern "C" fn dm_config_debug_symbols_set(handle: &mut wasm_config_t, enable: bool) {
    config(handle).debug_symbols(enable);
}

/// Frames that a trap collects at most; 0 collects none.
#[unsafe(no_mangle)]
pub extern "C" fn dm_config_backtrace_max_frames_set(handle: &mut wasm_config_t, frames: usize) {
    config(handle).wasm_backtrace_max_frames(NonZeroUsize::new(frames));
}

/// The text that compiled files carry and that must match when they are loaded.
///
/// # Safety
/// `version` must be a NUL-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dm_config_module_version(
    handle: &mut wasm_config_t,
    version: *const c_char,
) -> Failure {
    // SAFETY: the caller's promise.
    let text = match unsafe { CStr::from_ptr(version) }.to_str() {
        Ok(text) => text.to_owned(),
        Err(error) => return fail(Error::from(error).context("module version")),
    };
    match config(handle).module_version(ModuleVersionStrategy::Custom(text)) {
        Ok(_) => None,
        Err(error) => fail(error),
    }
}

#[cfg(not(feature = "compiler"))]
const _: Option<Sink> = None;

/// `struct dm_store_limits` of the header.
#[repr(C)]
pub struct StoreBounds {
    memory_bytes: u64,
    table_elements: u64,
    tables: u32,
    refused_bytes: u64,
}

/// Points to a `StoreBounds` that outlives its store.
struct Limiter(*mut StoreBounds);
// SAFETY: a store, and with it its limiter, is used by one thread at a time.
unsafe impl Send for Limiter {}
// SAFETY: as above.
unsafe impl Sync for Limiter {}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, _: usize, want: usize, max: Option<usize>) -> Result<bool> {
        // SAFETY: the caller of `dm_store_limit` keeps it.
        let bounds = unsafe { &mut *self.0 };
        if max.is_some_and(|max| want > max) {
            return Ok(false);
        }
        let fits = want as u64 <= bounds.memory_bytes;
        if !fits {
            bounds.refused_bytes = bounds.refused_bytes.max(want as u64);
        }
        Ok(fits)
    }

    fn table_growing(&mut self, _: usize, want: usize, max: Option<usize>) -> Result<bool> {
        // SAFETY: as above.
        let bounds = unsafe { &*self.0 };
        Ok(want as u64 <= bounds.table_elements && max.is_none_or(|max| want <= max))
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        // SAFETY: as above.
        unsafe { (*self.0).tables as usize }
    }

    fn memories(&self) -> usize {
        1
    }
}

/// Bounds what the one instance of a store may take, and notes what it was refused.
///
/// # Safety
/// `bounds` must be valid until the store is deleted, and not be read or written while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dm_store_limit(handle: &mut wasmtime_store_t, bounds: *mut StoreBounds) {
    // SAFETY: `is_wrapper` holds.
    let store = unsafe { &mut *(handle as *mut wasmtime_store_t).cast::<WasmtimeStore>() };
    // The limiter must be borrowed from the store's data, which has no room for one of ours; it lives
    // as long as the store, which owns this closure.
    let limiter = Box::into_raw(Box::new(Limiter(bounds))) as usize;
    let owner = Owner(limiter);
    store.limiter(move |_| owner.limiter());
}

/// Frees its limiter with the closure that holds it.
struct Owner(usize);

impl Owner {
    #[allow(clippy::mut_from_ref)]
    fn limiter<'a>(&self) -> &'a mut dyn ResourceLimiter {
        // SAFETY: the store calls this with exclusive access to itself, and uses the result before
        // it can be called again or dropped.
        unsafe { &mut *(self.0 as *mut Limiter) }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: made by Box::into_raw() in `dm_store_limit`, freed here alone.
        drop(unsafe { Box::from_raw(self.0 as *mut Limiter) });
    }
}
