//! A system in this process, with everything that it talks to, on a clock that only the simulation moves.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use egress::{Egress, Policy};
use emulators::faults::{Faults, Plan};
use emulators::{AnyError, Embedded};
use gateway::app::App;
use local::filters::Filters;
use local::providers::{Options as ProviderOptions, Provider, Providers, WEBHOOK_SECRET};
use primitives::clock::{Clock, Timestamp};

use crate::network::{Network, Receiver};
use crate::step::{Step, Trouble};

/// When every simulation begins.
const BEGINNING: &str = "2026-03-02T09:00:00.000Z";
/// The port of the providers, which nothing listens on.
const PROVIDERS_PORT: u16 = 10;

/// A system, and what is around it.
pub struct World {
    pub(crate) embedded: Embedded,
    pub(crate) clock: Clock,
    pub(crate) providers: Providers,
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) filters: Filters,
    faults: Faults,
    processes: RefCell<Processes>,
    is_troubled: Cell<bool>,
}

/// The present process, and one whose calls of the table go wrong; each is started when it is first needed.
#[derive(Default)]
struct Processes {
    sound: OnceCell<Rc<Process>>,
    faulty: OnceCell<Rc<Process>>,
}

/// The functions' code in one process, with its caches.
pub(crate) struct Process {
    pub(crate) app: App,
    router: OnceCell<Router>,
}

impl Process {
    fn of(app: App) -> Rc<Self> {
        Rc::new(Self { app, router: OnceCell::new() })
    }

    pub(crate) fn router(&self) -> Router {
        self.router.get_or_init(|| local::routes().into_router(self.app.clone())).clone()
    }
}

impl World {
    /// A new system, with its data in a directory.
    ///
    /// # Errors
    /// The emulators do not start.
    pub async fn stored_in(directory: &Path) -> Result<Self, AnyError> {
        let data = Some(directory.to_owned());
        Self::open(emulators::Options { data, ..emulators::Options::default() }).await
    }

    /// A system in memory that begins as the one in this directory.
    ///
    /// # Errors
    /// The emulators do not start.
    pub async fn copied_from(directory: &Path) -> Result<Self, AnyError> {
        let copied_from = Some(directory.to_owned());
        Self::open(emulators::Options { copied_from, ..emulators::Options::default() }).await
    }

    async fn open(place: emulators::Options) -> Result<Self, AnyError> {
        let beginning = Timestamp::parse(BEGINNING).ok_or("no time")?;
        let clock = Clock::stopped_at(beginning);
        let providers = Providers::in_process(ProviderOptions {
            clock: clock.clone(),
            port: PROVIDERS_PORT,
            ..ProviderOptions::default()
        });
        for provider in [Provider::Razorpay, Provider::Stripe] {
            let url = format!("{}/{}", providers.url(), provider.as_str());
            providers
                .register(provider, &url, WEBHOOK_SECRET)
                .map_err(|rejection| rejection.body.to_string())?;
        }
        let receiver = Arc::new(Receiver::default());
        let network = Network { providers: providers.router(), receiver: Arc::clone(&receiver) };
        let faults = Faults::drawn("0%:0".parse::<Plan>()?);
        let filters = filters()?;
        let embedded = Embedded::start(emulators::Options {
            recorded: filters.changes(),
            clock: clock.clone(),
            egress: Egress::new(Policy::development()).with_transport(Arc::new(network)),
            trust_proxy: true,
            payment_base_urls: providers.base_urls(),
            planned: Some(faults.clone()),
            ..place
        })
        .await?;
        let (processes, is_troubled) = (RefCell::default(), Cell::default());
        Ok(Self { embedded, clock, providers, receiver, filters, faults, processes, is_troubled })
    }

    /// The process that the next request reaches.
    pub(crate) fn process(&self) -> Rc<Process> {
        let processes = self.processes.borrow();
        let process = if self.is_troubled.get() {
            processes.faulty.get_or_init(|| Process::of(self.embedded.app_over(&self.faults)))
        } else {
            processes.sound.get_or_init(|| Process::of(self.embedded.app_restarted()))
        };
        Rc::clone(process)
    }

    /// Ends the processes; what they remember is lost.
    pub fn restart(&self) {
        self.processes.replace(Processes::default());
    }

    /// Prepares what goes wrong during these steps. It follows from the seed and from the steps themselves.
    pub(crate) fn trouble(&self, seed: u64, steps: &[&Step]) {
        let percent = steps.iter().find_map(|step| match step.trouble {
            Trouble::Table(percent) => Some((percent, step.number)),
            Trouble::None | Trouble::Kill(_) => None,
        });
        self.is_troubled.set(percent.is_some());
        if let Some((percent, number)) = percent
            && let Ok(plan) = format!("{percent}%:{seed}").parse::<Plan>()
        {
            self.faults.redraw(plan.of(&number.to_string()));
        }
        self.faults.hold(percent.is_none());
    }

    /// Nothing goes wrong from now on.
    pub(crate) fn calm(&self) {
        self.faults.hold(true);
        self.is_troubled.set(false);
    }

    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        self.clock.advance(by);
    }
}

/// What the dispatcher takes of the stream; the template is read once.
fn filters() -> Result<Filters, AnyError> {
    static FILTERS: OnceLock<Filters> = OnceLock::new();
    if let Some(filters) = FILTERS.get() {
        return Ok(filters.clone());
    }
    let mut functions = local::template::functions()?.into_iter();
    let dispatcher = functions.find(|function| function.binary == "dispatcher");
    let filters = dispatcher.and_then(|function| function.stream);
    let filters = filters.ok_or("the dispatcher listens to no stream")?;
    Ok(FILTERS.get_or_init(|| filters).clone())
}

/// Files: names and contents.
pub type Files = Vec<(OsString, Vec<u8>)>;

/// A directory in memory, if this machine has one, which is deleted with it.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty directory.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> std::io::Result<Self> {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let path = root.join(format!("simulation-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// A directory with these files.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn with(files: &Files) -> std::io::Result<Self> {
        let scratch = Self::new()?;
        for (name, bytes) in files {
            std::fs::write(scratch.0.join(name), bytes)?;
        }
        Ok(scratch)
    }

    /// Its files.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn files(&self) -> std::io::Result<Files> {
        let mut files = Files::new();
        for entry in std::fs::read_dir(&self.0)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                files.push((entry.file_name(), std::fs::read(entry.path())?));
            }
        }
        Ok(files)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Left behind at worst, in a place that a restart empties.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
