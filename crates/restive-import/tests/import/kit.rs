//! A folder of exports, and what an import of them says.

use restive::instance::{NO_ACTION, UNSEEN};
use restive_import::demo::SyntheticProgramme;
use restive_import::{
    ImportAsked, Imported, ImportedFolder, Input, Mapping, MappingText, Result, import, init,
};
use std::path::PathBuf;

/// A folder with exports.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    /// A folder with the exports of a synthetic programme.
    pub(crate) fn exported(programme: &SyntheticProgramme) -> Self {
        let world = Self::new();
        for file in programme.exports() {
            world.write(file.name, file.bytes);
        }
        world
    }

    pub(crate) fn zip(&self, name: &str, members: &[(&str, &str)]) -> &Self {
        use std::io::Write;
        let mut archive = zip::ZipWriter::new(std::fs::File::create(self.path(name)).unwrap());
        for (member, text) in members {
            archive.start_file(*member, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        self
    }

    /// A workbook of one sheet. A cell that begins with `=` is a formula without a result, one with `#` an error, all others are text.
    pub(crate) fn sheet(&self, name: &str, rows: &str) -> &Self {
        let cell = |text: &str| match text.as_bytes().first() {
            Some(b'=') => format!("<c><f>{}</f></c>", &text[1..]),
            Some(b'#') => format!("<c t=\"e\"><f>A1</f><v>{text}</v></c>"),
            _ => format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>"),
        };
        let row = |line: &str| format!("<row>{}</row>", line.split(',').map(cell).collect::<String>());
        let rows: String = rows.lines().map(row).collect();
        let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let relations = "http://schemas.openxmlformats.org/package/2006/relationships";
        let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        let sheet = format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}</sheetData></worksheet>");
        let book = format!(
            "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
        );
        let related = |kind: &str, target: &str| {
            format!(
                "<Relationships xmlns=\"{relations}\"><Relationship Id=\"r1\" Type=\"{office}/{kind}\" Target=\"{target}\"/></Relationships>"
            )
        };
        self.zip(
            name,
            &[
                ("_rels/.rels", &related("officeDocument", "xl/workbook.xml")),
                ("xl/workbook.xml", &book),
                ("xl/_rels/workbook.xml.rels", &related("worksheet", "worksheets/sheet1.xml")),
                ("xl/worksheets/sheet1.xml", &sheet),
            ],
        )
    }

    /// An OpenDocument workbook of one sheet, with cells like those of [`sheet`](Self::sheet).
    pub(crate) fn ods(&self, name: &str, rows: &str) -> &Self {
        let cell = |text: &str| match text.as_bytes().first() {
            None => "<table:table-cell/>".to_string(),
            Some(b'=') => format!("<table:table-cell table:formula=\"of:{text}\"/>"),
            Some(b'#') => format!(
                "<table:table-cell table:formula=\"of:=[.A1]\" office:value-type=\"string\" office:string-value=\"\" \
                 calcext:value-type=\"error\"><text:p>{text}</text:p></table:table-cell>"
            ),
            _ => format!(
                "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
            ),
        };
        let row = |line: &str| {
            let cells: String = line.split(',').map(cell).collect();
            format!("<table:table-row>{cells}</table:table-row>")
        };
        let rows: String = rows.lines().map(row).collect();
        let content = format!(
            "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"S\">{rows}</table:table>\
             </office:spreadsheet></office:body></office:document-content>"
        );
        self.zip(
            name,
            &[
                ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
                ("META-INF/manifest.xml", "<manifest:manifest/>"),
                ("content.xml", &content),
            ],
        )
    }

    /// The mapping that `init` writes.
    pub(crate) fn init(&self, files: &[&str]) -> String {
        let files: Vec<String> = files.iter().map(|file| file.to_string()).collect();
        init(&files, &Input::Files { base: self.folder.path() }).unwrap()
    }

    pub(crate) fn parse(&self, mapping: &str) -> Result<Mapping> {
        Mapping::parse(MappingText { path: self.path("mapping.toml"), text: mapping.into() })
    }

    pub(crate) fn asked(&self, mapping: &str, asked: &ImportAsked) -> Result<Imported> {
        let mapping = self.parse(mapping)?;
        let input = Input::Files { base: self.folder.path() };
        let imported = import(&mapping, &input, asked, |_, _| {})?;
        for account in &imported.summary.accounts {
            assert_eq!(account.rows, account.placed(), "{account:?}");
        }
        Ok(imported)
    }

    /// An import of which nothing is written.
    pub(crate) fn import(&self, mapping: &str) -> Imported {
        self.asked(mapping, &ImportAsked::default()).unwrap_or_else(|error| panic!("{error}\n{mapping}"))
    }

    /// An import into `programme`.
    pub(crate) fn grow(&self, mapping: &str) -> Result<Imported> {
        self.asked(mapping, &ImportAsked { out: Some(self.path("programme")), ..ImportAsked::default() })
    }

    /// What the last import into `programme` wrote.
    pub(crate) fn imported(&self) -> ImportedFolder {
        ImportedFolder::open(&self.path("programme")).unwrap().0
    }

    /// What an import that cannot be says, without the folder.
    pub(crate) fn refused(&self, mapping: &str) -> String {
        let said = match self.grow(mapping) {
            Ok(_) => panic!("an import of\n{mapping}"),
            Err(error) => error.to_string(),
        };
        said.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// Everybody's states and actions, a character for each row of the study; `.` is not known.
pub(crate) fn told(imported: &Imported) -> Vec<String> {
    let instance = &imported.study.instances[0];
    let (state, action) = (instance.trajectories.state(), instance.trajectories.action());
    let steps = instance.trajectories.steps();
    let one = |(i, arm): (usize, &String)| {
        let states: String = (0..steps)
            .map(|t| match state[[0, t, i]] {
                UNSEEN => ".".into(),
                s => s.to_string(),
            })
            .collect();
        let actions: String = (0..steps)
            .map(|t| match action[[0, t, i]] {
                NO_ACTION => ".".into(),
                a => a.to_string(),
            })
            .collect();
        format!("{arm} {states} {actions}")
    };
    instance.arms.iter().enumerate().map(one).collect()
}

/// The rows of a source by their places: used, repeated, merged, aside, outside, quarantined.
pub(crate) fn placed(imported: &Imported, source: &str) -> [u64; 6] {
    let account = imported.summary.accounts.iter().find(|account| account.source == source).unwrap();
    [account.used, account.repeated, account.merged, account.aside, account.outside, account.quarantined]
}

/// Why rows are listed, with how many.
pub(crate) fn reasons(imported: &Imported) -> Vec<String> {
    let reasons = imported.summary.reasons.iter();
    reasons.map(|r| format!("{} {} {}: {}", r.source, r.rows, r.what, r.reason)).collect()
}

/// A mapping of `init` with its commented lines filled in: each line that begins with `# KEY` becomes what is given.
pub(crate) fn decided(mapping: &str, decisions: &[(&str, &str)]) -> String {
    let mut text = mapping.to_string();
    for (key, line) in decisions {
        let start = text.find(&format!("\n# {key}")).unwrap_or_else(|| panic!("no {key} in\n{text}")) + 1;
        let end = start + text[start..].find('\n').unwrap();
        text.replace_range(start..end, line);
    }
    text.replace("every = \"week\"", "every = \"week\"\nfrom = 2026-03-02\nuntil = 2026-03-23")
}

pub(crate) const REGISTRY: &str = "id,name,phone,district\nP1,Ada,+91 98200 10001,north\nP2,Bina,98200 10002,south\nP3,Chitra,098200-10003,north\n";
pub(crate) const CALLS: &str = "person,when,outcome\nP2,2026-03-11,reached\nP3,2026-03-18,cancelled\nP2,2026-03-19,no answer\nP3,2026-03-12,reached\n";
/// What the log of calls means.
pub(crate) const OUTCOME: (&str, &str) = (
    "outcome =",
    "outcome = { column = \"outcome\", made = [\"reached\", \"no answer\"], not_made = \"cancelled\" }",
);
pub(crate) const LEAST: (&str, &str) = ("at_least =", "at_least = [30]");
pub(crate) const ONE: (&str, &str) = ("at_least =", "at_least = [1]");
pub(crate) const SILENCE: (&str, &str) = ("silence =", "silence = \"lowest\"");
pub(crate) const INDIA: (&str, &str) = ("zone =", "zone = \"Asia/Kolkata\"");
/// The states and calls that all systems are made to tell.
pub(crate) const TOLD: [&str; 3] = ["P1 100 00.", "P2 011 11.", "P3 001 10."];

/// A mapping of registry.csv, messages.csv and calls.csv.
pub(crate) const MAPPING: &str = r#"country = "IN"
[period]
every = "week"
from = 2026-03-02
until = 2026-03-23
[people]
file = "registry.csv"
id = "id"
keep = ["name", "phone"]
[people.features]
district = "text"
[[events]]
file = "messages.csv"
person = "person"
time = "date"
value = "seconds"
[state]
at_least = [30]
silence = "lowest"
[actions]
file = "calls.csv"
person = "person"
time = "when"
outcome = { column = "outcome", made = ["reached", "no answer"], not_made = "cancelled" }
"#;
pub(crate) const MESSAGES: &str = "person,date,seconds\nP1,2026-03-03,45\nP1,2026-03-10,5\nP2,2026-03-10,31\nP2,2026-03-17,60\nP3,2026-03-04,3\nP3,2026-03-22,30\n";

/// Those three files.
pub(crate) fn programme() -> World {
    let world = World::new();
    world.write("registry.csv", REGISTRY).write("messages.csv", MESSAGES).write("calls.csv", CALLS);
    world
}
