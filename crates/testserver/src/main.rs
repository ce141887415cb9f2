//! `brimline-testserver`: serves a script on 127.0.0.1 until SIGTERM, SIGINT or the end of its standard input.

use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::ExitCode;

use brimline_testserver::{Protocol, Script, Server};
use rustix::event::{PollFd, PollFlags, poll};

const USAGE: &str = "usage: brimline-testserver [--protocol mongodb|http|mysql] [--script FILE | --script-json TEXT] [--port N]

Serves the scripted server on 127.0.0.1 and prints one line of JSON with its address. Ends on SIGTERM, on SIGINT, or when
its standard input ends.
";

fn main() -> ExitCode {
    let options = match Options::of_arguments(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => return say(&mut io::stdout(), USAGE, ExitCode::SUCCESS),
        Err(message) => {
            return say(&mut io::stderr(), &format!("error: {message}\n\n{USAGE}"), ExitCode::from(2));
        }
    };
    match serve(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => say(&mut io::stderr(), &format!("error: {error}\n"), ExitCode::FAILURE),
    }
}

/// What the command line asks for.
#[derive(Default)]
struct Options {
    script: Script,
    protocol: Protocol,
    port: u16,
}

impl Options {
    /// `None` when help is asked for.
    fn of_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            if matches!(argument.as_str(), "-h" | "--help") {
                return Ok(None);
            }
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--script" => {
                    let path = value()?;
                    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
                    options.script = Script::from_json(&text).map_err(|error| format!("{path}: {error}"))?;
                }
                "--script-json" => {
                    options.script = Script::from_json(&value()?).map_err(|error| error.to_string())?;
                }
                "--protocol" => {
                    let name = value()?;
                    options.protocol =
                        Protocol::of_name(&name).ok_or_else(|| format!("{name} is no protocol"))?;
                }
                "--port" => {
                    let text = value()?;
                    options.port = text.parse().map_err(|_| format!("{text} is no port"))?;
                }
                _ => return Err(format!("unknown argument {argument}")),
            }
        }
        Ok(Some(options))
    }
}

fn serve(options: Options) -> io::Result<()> {
    // Before the server's thread is started, which then blocks the signals too.
    let signals = block_signals()?;
    let server = Server::start_on(options.script, options.protocol, options.port)?;
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{{\"address\": \"{}\"}}", server.address())?;
    stdout.flush()?;
    wait_for_the_end(&signals)?;
    server.stop()
}

/// Turns SIGTERM and SIGINT from interruptions into something that can be waited for.
fn block_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by sigemptyset before it is used, and lives through the calls; signalfd returns a
    // descriptor of our own or -1, which is checked first.
    unsafe {
        let mut signals = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&raw mut signals);
        libc::sigaddset(&raw mut signals, libc::SIGTERM);
        libc::sigaddset(&raw mut signals, libc::SIGINT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut());
        match libc::signalfd(-1, &raw const signals, libc::SFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Returns on a signal or at the end of the standard input, whose content is ignored.
#[expect(clippy::disallowed_methods, reason = "no time is waited for, only the end")]
fn wait_for_the_end(signals: &OwnedFd) -> io::Result<()> {
    let stdin = io::stdin();
    loop {
        let mut descriptors = [PollFd::new(signals, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        poll(&mut descriptors, None)?;
        let [signalled, readable] = descriptors.map(|descriptor| !descriptor.revents().is_empty());
        if signalled || (readable && stdin.lock().read(&mut [0; 4096])? == 0) {
            return Ok(());
        }
    }
}

fn say(stream: &mut dyn Write, text: &str, code: ExitCode) -> ExitCode {
    // Where nothing can be said, the exit code must do.
    let _ = stream.write_all(text.as_bytes());
    code
}
