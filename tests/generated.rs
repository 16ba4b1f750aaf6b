//! Generated files are what their generators print.

#[allow(dead_code)] // its `main` prints
#[path = "../examples/fma_kernels.rs"]
mod fma_kernels;

#[test]
fn kernels_are_what_the_example_prints() {
    assert_eq!(
        include_str!("../src/field/fma/kernels.rs"),
        fma_kernels::generate(),
        "run: cargo run --example fma_kernels > src/field/fma/kernels.rs"
    );
}
