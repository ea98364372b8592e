//! A progress indicator: an animated line on a terminal, one plain line elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

const FRAMES: [char; 4] = ['|', '/', '-', '\\'];

/// A progress line on standard output.
#[derive(Debug)]
pub struct Progress {
    is_terminal: bool,
    what: Mutex<String>,
    moves: AtomicUsize,
}

impl Progress {
    /// Begins a progress line with this text.
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

    /// Replaces the text; only on a terminal.
    pub fn about(&self, what: &str) {
        what.clone_into(&mut self.what.lock().unwrap_or_else(PoisonError::into_inner));
        self.step();
    }

    /// Advances the animation; only on a terminal.
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
    /// Clears the line on a terminal.
    fn drop(&mut self) {
        if self.is_terminal {
            let mut console = std::io::stdout().lock();
            let _ = write!(console, "\r\x1b[2K");
            let _ = console.flush();
        }
    }
}
