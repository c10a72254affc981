// SPDX-License-Identifier: Apache-2.0
//! Copies the C headers that the C API's build generated for exactly this feature set to the
//! directory named by DM_INCLUDE, so that library and headers always come from one build.

use std::{env, fs, io, path::Path};

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let dest = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &dest)?;
        } else {
            fs::copy(entry.path(), dest)?;
        }
    }
    Ok(())
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DM_INCLUDE");
    let include = env::var("DEP_WASMTIME_C_API_INCLUDE").expect("the C API's header directory");
    if let Ok(to) = env::var("DM_INCLUDE") {
        // Run again when somebody removed the copy.
        println!("cargo:rerun-if-changed={to}/wasmtime.h");
        copy_tree(Path::new(&include), Path::new(&to)).expect("copy the C API's headers");
    }
}
