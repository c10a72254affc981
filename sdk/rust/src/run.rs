// SPDX-License-Identifier: Apache-2.0
//! What the host calls.

use crate::abi;
use crate::context::{Action, Context};
use crate::declare::Operator;
use crate::error::{Error, Result};
use serde_json::Value;
use std::cell::OnceCell;
use std::rc::Rc;

const RETRY: i64 = -1;
const GIVE_UP: i64 = -2;

thread_local! {
    static OPERATOR: OnceCell<Rc<Operator>> = const { OnceCell::new() };
}

/// Declare the operator. 0: ready.
pub fn setup(define: fn() -> Operator) -> i32 {
    // A panic aborts the module; its text would otherwise be a line on standard error alone.
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|info| {
        let text = format!("panic: {info}");
        crate::tell::log(crate::tell::Level::Error, &text, Vec::new());
        abi::call_fail_message(text.as_bytes());
    }));
    let operator = define();
    let code = abi::call_declare(operator.declaration().to_string().as_bytes());
    if code != 0 {
        let error = Error::of_host(code, &abi::take_result());
        abi::call_fail_message(format!("declare: {error}").as_bytes());
        return 1;
    }
    OPERATOR.with(|cell| cell.set(Rc::new(operator)).is_err()).into()
}

/// One activation; its JSON is the host's result.
pub fn activate() -> i64 {
    match run(&abi::take_result()) {
        Ok(action) => action.0,
        Err(e) => {
            abi::call_fail_message(e.to_string().as_bytes());
            if e.is_permanent() {
                GIVE_UP
            } else {
                RETRY
            }
        }
    }
}

fn run(bytes: &[u8]) -> Result<Action> {
    let operator = OPERATOR.with(|cell| cell.get().cloned()).ok_or("activated before setup")?;
    let mut activation: Value = serde_json::from_slice(bytes)?;
    match activation["type"].as_str() {
        Some("reconcile") => {
            let controller = operator
                .controllers
                .iter()
                .find(|c| activation["controller"] == c.name.as_str())
                .ok_or_else(|| Error::permanent("no controller of this name"))?;
            (controller.reconcile)(&mut Context::of(controller, &mut activation)?)
        }
        Some("config") => {
            if let Some(changed) = operator.on_config {
                changed(&mut Context::empty(), activation["name"].as_str().unwrap_or_default())?;
            }
            Ok(Action::done())
        }
        _ => Ok(Action::done()),
    }
}
