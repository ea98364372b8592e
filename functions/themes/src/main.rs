//! The Lambda of `/v1/themes`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(themes_family::routes()).await
}
