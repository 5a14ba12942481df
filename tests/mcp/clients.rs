//! Other people's clients: the official one for Python, the inspector's command line, the conformance
//! suite. `scripts/clients` installs them; `scripts/test` does, and names their directory in `WATS_CLIENTS`.

use super::House;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread;

fn clients() -> PathBuf {
    std::env::var_os("WATS_CLIENTS").expect("WATS_CLIENTS: scripts/test sets it").into()
}

fn here(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(file)
}

/// Runs a client that must be content; what it prints.
fn good(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&stdout).into_owned();
    assert!(status.success(), "{command:?}\n{said}\n{}", String::from_utf8_lossy(&stderr));
    said
}

fn python() -> Command {
    let mut command = Command::new(clients().join("python/bin/python"));
    command.arg(here("clients.py"));
    command
}

fn inspector() -> Command {
    let mut command = Command::new(clients().join("node"));
    command.arg(clients().join("node_modules/@modelcontextprotocol/inspector/cli/build/index.js"));
    command
}

#[test]
#[ignore = "needs other people's clients: scripts/test"]
fn the_client_for_python_works_over_standard_input_and_output() {
    let house = House::new("python");
    let said = good(python().args(["stdio", env!("CARGO_BIN_EXE_wats")]).arg(house.dir()));
    assert_eq!(said, "auto works\nlegacy works\n");
}

#[test]
#[ignore = "needs other people's clients: scripts/test"]
fn the_client_for_python_works_over_http() {
    let house = House::new("python-http");
    let served = house.serve();
    let said = good(python().args(["http", &format!("http://{}/mcp", served.address), &served.token]));
    assert_eq!(said, "auto works\nlegacy works\n");
}

#[test]
#[ignore = "needs other people's clients: scripts/test"]
fn the_inspector_works_over_standard_input_and_output_and_over_http() {
    let house = House::new("inspector");
    let mut stdio = inspector();
    stdio.arg(env!("CARGO_BIN_EXE_wats")).args(["mcp", "--dir"]).arg(house.dir());
    stdio.args(["--set", "node.listen=127.0.0.1:0", "--method", "tools/call", "--tool-name", "whoami"]);
    let first = good(&mut stdio);
    assert!(first.contains("\"announced\": false"), "{first}");
    house.kill();
    let served = house.serve();
    let proxy = proxy(&served.address, &served.token);
    let mut http = inspector();
    http.args([&format!("http://127.0.0.1:{proxy}/mcp"), "--transport", "http"]);
    http.args(["--method", "tools/call", "--tool-name", "whoami"]);
    assert_eq!(good(&mut http), first);
}

/// What the suite asks beyond this is what its own example server has; `conformance.yml` says why of each.
#[test]
#[ignore = "needs other people's clients: scripts/test"]
fn the_conformance_suite_finds_nothing_that_is_not_explained() {
    let house = House::new("conformance");
    let served = house.serve();
    let proxy = proxy(&served.address, &served.token);
    for revision in ["2025-11-25", "2026-07-28"] {
        let mut command = Command::new(clients().join("node"));
        command.arg(clients().join("node_modules/@modelcontextprotocol/conformance/dist/index.js"));
        command.args(["server", "--url", &format!("http://localhost:{proxy}/mcp"), "--suite", "all"]);
        command.args(["--spec-version", revision]);
        command.arg("--expected-failures").arg(here(&format!("conformance-{revision}.yml")));
        good(&mut command);
    }
}

/// These clients cannot show a token: this adds it to what they send, and is otherwise not there.
fn proxy(to: &str, token: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let (to, header) = (to.to_owned(), format!("\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"));
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let (to, header) = (to.clone(), header.clone());
            thread::spawn(move || carry(client, &to, &header));
        }
    });
    port
}

/// One request, and its answer.
fn carry(mut client: TcpStream, to: &str, header: &str) -> std::io::Result<()> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let (first, rest) = head.split_once("\r\n").unwrap_or_default();
    let keeps = |line: &&str| !line.to_ascii_lowercase().starts_with("connection:");
    let rest: Vec<&str> = rest.split("\r\n").filter(keeps).collect();
    let mut node = TcpStream::connect(to)?;
    node.write_all(format!("{first}{header}{}", rest.join("\r\n")).as_bytes())?;
    let (mut up, mut down) = (client.try_clone()?, node.try_clone()?);
    thread::spawn(move || std::io::copy(&mut up, &mut down));
    std::io::copy(&mut node, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)
}
