//! The Lambda of `/v1/operations`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(operations::routes()).await
}
