//! A desk behind a certificate that somebody made herself, from the handshake to a page. The key beside it opens nothing but this test.

use crate::harness::{PASSWORD, WebUi};
use crate::world::{WorldOptions, world};
use restive_serve::{Role, Server, Users};
use restive_testkit::{Folder, form_encoded};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

fn certificate() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk/tls/cert.pem")
}

/// Returns a private copy of the key in the folder of a world: the one in the repository can be read by others.
fn key(world: &Folder) -> PathBuf {
    let (key, copy) = (certificate().with_file_name("key.pem"), world.path("key.pem"));
    restive_tables::write_private_file(&copy, &std::fs::read(key).unwrap(), None).unwrap();
    copy
}

fn web_ui() -> WebUi {
    let world = world(&WorldOptions::default());
    let file = world.path("users.toml");
    let mut users = Users::default();
    users.add("Asha", Role::Planner, None, false, PASSWORD).unwrap();
    users.write(&file).unwrap();
    let tls = (certificate(), key(&world));
    WebUi::start_in(world, |options| (options.users, options.tls) = (Some(file), Some(tls)))
}

/// Sends a request over TLS; trusts no certificate but that of the server.
fn ask(ui: &WebUi, name: &str, request: &str) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate()).unwrap()).unwrap();
    let provider = tokio_rustls::rustls::crypto::ring::default_provider();
    let settings = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_string()).unwrap();
    let client = ClientConnection::new(Arc::new(settings), name).unwrap();
    let socket = TcpStream::connect(ui.server.address())?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut stream = StreamOwned::new(client, socket);
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        // the desk may close without a word of farewell
        Err(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn a_certificate_keeps_the_way() {
    let ui = web_ui();
    assert!(ui.server.entrance().unwrap().starts_with("https://"));
    let host = ui.server.address();
    let door =
        ask(&ui, "127.0.0.1", &format!("GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert!(door.unwrap().starts_with("HTTP/1.1 200"));
    let form = format!("name=Asha&password={}", form_encoded(PASSWORD));
    let login = format!(
        "POST /login HTTP/1.1\r\nHost: {host}\r\nOrigin: https://{host}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let entered = ask(&ui, "127.0.0.1", &login).unwrap();
    assert!(entered.starts_with("HTTP/1.1 303"), "{entered}");
    let cookie = entered.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.starts_with("__Host-restive-") && cookie.contains("; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let week = format!("GET /week HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n");
    let week = ask(&ui, "127.0.0.1", &week).unwrap();
    assert!(week.starts_with("HTTP/1.1 200") && week.contains("This week") && week.contains("MB-"));
    // another name than those of the certificate: the client refuses
    assert!(ask(&ui, "desk.example", "GET / HTTP/1.1\r\n\r\n").is_err());
    // whoever speaks in the open, or not at all, gets nothing, and others do not wait for them
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(host).unwrap()).collect();
    let open = ui.visitor().get("/login");
    assert!(open.status == 0 && open.body.is_empty(), "{}", open.head);
    let door =
        ask(&ui, "localhost", &format!("GET /login HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
    assert!(door.unwrap().starts_with("HTTP/1.1 200"));
    drop(silent);
}

#[test]
fn what_is_no_certificate_is_refused() {
    let world = world(&WorldOptions::default());
    let (folder, none) = (world.path("programme"), world.path("none.pem"));
    std::fs::write(&none, "nothing").unwrap();
    let (cert, key) = (certificate(), key(&world));
    for pair in [(none.clone(), key.clone()), (cert.clone(), none), (cert, world.path("absent.pem"))] {
        let mut asked = restive_serve::Opened { port: Some(0), ..restive_serve::Opened::new(&folder) };
        asked.tls = Some(pair);
        let Err(error) = Server::open(&asked) else { panic!("opened") };
        assert!(error.to_string().contains(".pem"), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let world = world(&WorldOptions::default());
    let (folder, key) = (world.path("programme"), key(&world));
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut options = restive_serve::Opened { port: Some(0), ..restive_serve::Opened::new(&folder) };
    options.tls = Some((certificate(), key.clone()));
    let Err(error) = Server::open(&options) else { panic!("opened") };
    let error = error.to_string();
    assert!(error.contains("found mode 0644") && error.contains("chmod 600 "), "{error}");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(Server::open(&options).is_ok());
}
