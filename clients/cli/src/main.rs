//! `commerce`: the command line of the platform.
//!
//! A client like any other: it knows the API by its documentation, and none of the server's crates. `context` has what
//! every command is given, `client` sends requests; then a module a command.

mod api;
mod args;
mod client;
mod context;
mod export;
mod failure;
mod feed;
mod fields;
mod forward;
mod import;
mod listen;
mod login;
mod logs;
mod output;
mod pretty;
mod profile;
mod progress;
mod request;
mod secret;
mod stores;
mod theme;
mod time;
mod trigger;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use context::Context;
use failure::Failure;
use output::Output;

fn main() -> ExitCode {
    let mut cli = Cli::parse();
    cli.global.token =
        std::env::var_os("COMMERCE_TOKEN").and_then(|token| token.into_string().ok());
    let output = Output::new(cli.global.json, cli.global.quiet);
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    if let Command::Completion { shell } = cli.command {
        clap_complete::generate(shell, &mut Cli::command(), "commerce", &mut std::io::stdout());
        return Ok(());
    }
    let context = Context::new(cli.global)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(Box::pin(dispatch(&context, cli.command)))
}

async fn dispatch(context: &Context, command: Command) -> Result<(), Failure> {
    match command {
        Command::Login(args) => login::login(context, args).await,
        Command::Logout => login::logout(context).await,
        Command::Whoami => login::whoami(context).await,
        Command::Stores(command) => stores::run(context, command).await,
        Command::Api(args) => api::run(context, args).await,
        Command::Listen(args) => listen::run(context, args).await,
        Command::Trigger(args) => trigger::run(context, args).await,
        Command::Logs(args) => logs::run(context, args).await,
        Command::Theme(command) => theme::run(context, command).await,
        Command::Import(args) => import::run(context, args).await,
        Command::Export(args) => export::run(context, args).await,
        Command::Completion { .. } => Ok(()),
    }
}
