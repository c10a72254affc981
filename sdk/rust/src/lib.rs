// SPDX-License-Identifier: Apache-2.0
//! Kubernetes operators that sleep.
//!
//! An operator is a WebAssembly module. dormouse keeps its watches, caches, queues, retries and
//! credentials, calls `reconcile` with one key at a time, and writes the module to disk in between. So
//! everything here is synchronous, and what must be remembered stands in objects.
//!
//! ```no_run
//! use dormouse_operator::*;
//!
//! fn reconcile(ctx: &mut Context) -> Result<Action> {
//!     let Some(object) = &ctx.object else { return Ok(Action::done()) };
//!     let greeting = format!("Hello, {}!", ctx.name);
//!     if object["data"]["greeting"] != greeting.as_str() {
//!         let patch = json!({"data": {"greeting": greeting}});
//!         ctx.primaries::<DynamicObject>().patch(&ctx.name, &Patch::Merge(&patch)).context("greet")?;
//!         info!("greeted", name = ctx.name);
//!     }
//!     Ok(Action::done())
//! }
//!
//! fn define() -> Operator {
//!     let watch = Watch::of(kinds::CONFIG_MAP).labels("hello=please");
//!     Operator::new("hello", "1.0.0")
//!         .controller(Controller::new("hello", kinds::CONFIG_MAP, reconcile).for_watch(watch))
//! }
//! operator!(define);
//! ```

mod abi;
mod api;
mod context;
mod declare;
mod error;
mod object;
mod run;
mod tell;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use api::{request, Cache, DeleteParams, List, ListParams, Patch, Query, Request, Resource, Settings};
pub use context::{Action, Cleanup, Context, Life};
pub use declare::{kinds, Config, Controller, Kind, Map, Operator, Predicate, Watch};
pub use error::{Cause, Error, HostCode, Optional, Result, Status, WithContext};
pub use object::{rfc3339, Condition, DynamicObject};
#[doc(hidden)]
pub use run::{activate, setup};
/// For answers that nobody looks at: `ctx.resource::<Ignored>(KIND).apply(...)` builds nothing of them.
pub use serde::de::IgnoredAny as Ignored;
pub use serde_json::{json, Value};
pub use tell::{enqueue, event, log, EventType, Level, Metric, Priority};

/// Make a function `fn() -> Operator` the module's operator.
#[macro_export]
macro_rules! operator {
    ($define:expr) => {
        // Constructors run here, once. Without it the linker wraps every export in code that runs them,
        // and destructors, at each call.
        #[cfg(target_arch = "wasm32")]
        #[no_mangle]
        pub extern "C" fn _initialize() {
            extern "C" {
                fn __wasm_call_ctors();
            }
            unsafe { __wasm_call_ctors() }
        }
        #[no_mangle]
        pub extern "C" fn dormouse_v1_setup() -> i32 {
            $crate::setup($define)
        }
        #[no_mangle]
        pub extern "C" fn dormouse_v1_activate(len: u32) -> i64 {
            let _ = len; // the result's own size says the same
            $crate::activate()
        }
    };
}
