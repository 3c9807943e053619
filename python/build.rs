//! On macOS a linker must be told that the interpreter has what an extension does not define.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
