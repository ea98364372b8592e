//! What is being prepared, for whoever waits: a line that moves on a terminal, one line elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// A line on standard output.
#[derive(Debug)]
pub struct Progress {
    is_terminal: bool,
    what: Mutex<String>,
    moves: AtomicUsize,
}

impl Progress {
    /// Says what begins.
    pub fn begin(what: &str) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let progress =
            Self { is_terminal, what: Mutex::new(what.to_owned()), moves: AtomicUsize::new(0) };
        if is_terminal {
            progress.step();
        } else {
            println!("{what} …");
        }
        progress
    }

    /// Says what it is about now; on a terminal alone, where it replaces what was said before.
    pub fn about(&self, what: &str) {
        what.clone_into(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner));
        self.step();
    }

    /// It goes on.
    pub fn step(&self) {
        if !self.is_terminal {
            return;
        }
        let moves = self.moves.fetch_add(1, Ordering::Relaxed);
        let frame = FRAMES.into_iter().cycle().nth(moves.rem_euclid(FRAMES.len()));
        let what = self.what.lock().unwrap_or_else(PoisonError::into_inner);
        let mut console = std::io::stdout().lock();
        let _ = write!(console, "\r\x1b[2K{} {what}", frame.unwrap_or('|'));
        let _ = console.flush();
    }
}

impl Drop for Progress {
    /// The line goes when the work is done.
    fn drop(&mut self) {
        if self.is_terminal {
            let mut console = std::io::stdout().lock();
            let _ = write!(console, "\r\x1b[2K");
            let _ = console.flush();
        }
    }
}
