//! What both Rust peers share: the command line, the phases, the clocks and the one line of JSON.

use std::cell::{Cell, RefCell};
use std::fs;
use std::future::Future;
use std::io;
use std::process::exit;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, PartialEq)]
pub enum Operation {
    Get,
    Download,
    Save,
    Upload,
}

pub struct Options {
    pub operation: Operation,
    pub url: String,
    pub cacert: Option<String>,
    pub file: Option<String>,
    pub connections: usize,
    pub origins: usize,
    pub requests: u64,
    pub warmup: u64,
    pub seconds: f64,
    pub gzip: bool,
    pub http2: bool,
}

/// Exits with 64 where the command line is not understood.
pub fn parse() -> Options {
    let mut arguments = std::env::args().skip(1);
    let operation = match arguments.next().as_deref() {
        Some("get") => Operation::Get,
        Some("download") => Operation::Download,
        Some("save") => Operation::Save,
        Some("upload") => Operation::Upload,
        _ => usage(),
    };
    let mut options = Options {
        operation,
        url: String::new(),
        cacert: None,
        file: None,
        connections: 1,
        origins: 1,
        requests: 0,
        warmup: 0,
        seconds: 0.0,
        gzip: false,
        http2: false,
    };
    while let Some(name) = arguments.next() {
        if name == "--gzip" {
            options.gzip = true;
            continue;
        }
        if name == "--http2" {
            options.http2 = true;
            continue;
        }
        let value = arguments.next().unwrap_or_else(|| usage());
        match name.as_str() {
            "--url" => options.url = value,
            "--cacert" => options.cacert = Some(value),
            "--file" => options.file = Some(value),
            "--connections" => options.connections = number(&value) as usize,
            "--origins" => options.origins = number(&value) as usize,
            "--requests" => options.requests = number(&value) as u64,
            "--warmup" => options.warmup = number(&value) as u64,
            "--seconds" => options.seconds = number(&value),
            _ => usage(),
        }
    }
    if options.url.is_empty() {
        usage()
    }
    if options.requests == 0 && options.seconds == 0.0 {
        options.requests = 1
    }
    options
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| usage())
}

fn usage() -> ! {
    eprintln!("usage: peer get|download|save|upload --url URL [options of ../README.md]");
    exit(64)
}

/// For what this client cannot do: the harness shows a gap.
pub fn unsupported(what: &str) -> ! {
    eprintln!("not supported: {what}");
    exit(69)
}

pub fn die(error: impl std::fmt::Display) -> ! {
    eprintln!("{error}");
    exit(1)
}

impl Options {
    /// The URLs of the origins, as the client's own type.
    pub fn urls<T: std::str::FromStr>(&self) -> Vec<T> {
        let text = (1..=self.origins).map(|number| self.url.replacen("{}", &number.to_string(), 1));
        text.map(|url| url.parse().unwrap_or_else(|_| usage())).collect()
    }
}

#[derive(Default)]
struct Totals {
    requests: u64,
    bytes: u64,
    errors: u64,
    latencies: Vec<u64>,
}

/// Runs warm-up and measurement with one task for each connection on a single thread, prints, and exits.
/// `request` is given the index of the origin and answers with the bytes of the body.
pub fn run<F, R, E>(options: &Options, client: &str, request: F) -> !
where
    F: Fn(usize) -> R + Clone + 'static,
    R: Future<Output = Result<u64, E>> + 'static,
    E: std::fmt::Display,
{
    raise_descriptor_limit();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap_or_else(|e| die(e));
    let local = tokio::task::LocalSet::new();
    if options.warmup > 0 {
        local.block_on(&runtime, phase(options, options.warmup, 0.0, request.clone()));
    }
    let clocks = Clocks::start();
    let totals = local.block_on(&runtime, phase(options, options.requests, options.seconds, request));
    let failed = totals.errors > 0;
    clocks.print(totals, client);
    exit(i32::from(failed))
}

async fn phase<F, R, E>(options: &Options, quota: u64, seconds: f64, request: F) -> Totals
where
    F: Fn(usize) -> R + Clone + 'static,
    R: Future<Output = Result<u64, E>> + 'static,
    E: std::fmt::Display,
{
    let totals = Rc::new(RefCell::new(Totals::default()));
    let started = Rc::new(Cell::new(0u64));
    let deadline = (seconds > 0.0).then(|| Instant::now() + Duration::from_secs_f64(seconds));
    let origins = options.origins as u64;
    let workers: Vec<_> = (0..options.connections)
        .map(|_| {
            let (totals, started, request) = (totals.clone(), started.clone(), request.clone());
            tokio::task::spawn_local(async move {
                loop {
                    let since = Instant::now();
                    let number = started.get();
                    if quota > 0 && number >= quota || deadline.map_or(false, |deadline| since >= deadline) {
                        break;
                    }
                    started.set(number + 1);
                    let result = request((number % origins) as usize).await;
                    let mut totals = totals.borrow_mut();
                    match result {
                        Ok(bytes) => {
                            totals.requests += 1;
                            totals.bytes += bytes;
                            totals.latencies.push(since.elapsed().as_nanos() as u64);
                        }
                        Err(error) => {
                            eprintln!("{error}");
                            totals.errors += 1;
                        }
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        let _ = worker.await;
    }
    totals.take()
}

struct Clocks {
    wall: Instant,
    usage: libc::rusage,
    base_rss: u64,
}

impl Clocks {
    fn start() -> Clocks {
        give_back_memory();
        Clocks { base_rss: status("VmRSS"), usage: usage_now(), wall: Instant::now() }
    }

    fn print(self, mut totals: Totals, client: &str) {
        let wall = self.wall.elapsed().as_secs_f64();
        let usage = usage_now();
        let threads = status("Threads");
        let peak = status("VmHWM");
        give_back_memory();
        let resident = status("VmRSS");
        totals.latencies.sort_unstable();
        let percentile = |share: f64| match totals.latencies.len() {
            0 => 0.0,
            count => totals.latencies[(share * (count - 1) as f64) as usize] as f64 / 1e3,
        };
        println!(
            "{{\"client\":\"{client}\",\"requests\":{},\"bytes\":{},\"errors\":{},\"wall_s\":{wall:.6},\
             \"user_s\":{:.6},\"sys_s\":{:.6},\"p50_us\":{:.2},\"p99_us\":{:.2},\"base_rss_kib\":{},\
             \"rss_kib\":{resident},\"max_rss_kib\":{peak},\"threads\":{threads}}}",
            totals.requests,
            totals.bytes,
            totals.errors,
            seconds(usage.ru_utime) - seconds(self.usage.ru_utime),
            seconds(usage.ru_stime) - seconds(self.usage.ru_stime),
            percentile(0.5),
            percentile(0.99),
            self.base_rss,
        );
    }
}

fn usage_now() -> libc::rusage {
    // A plain structure of integers, for which zeros are a value.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// What the allocator keeps for later is not what the client needs.
fn give_back_memory() {
    unsafe {
        libc::malloc_trim(0);
    }
}

fn raise_descriptor_limit() {
    unsafe {
        let mut limit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// A number of /proc/self/status, in KiB where it is a size.
fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    text.lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok())
        .next()
        .unwrap_or(0)
}

pub fn file_size(path: &str) -> io::Result<u64> {
    Ok(fs::metadata(path)?.len())
}
