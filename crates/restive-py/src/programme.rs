//! A programme's week: the inner half of `restive.Programme`.

use crate::columns::{Column, whole};
use crate::refusal::{keywords, of_pipeline, of_tables};
use crate::threads::run;
use jiff::{Timestamp, Zoned};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use restive_pipeline::{Outcome, PlanAsked, Rules};
use restive_programme::fairness::{FairnessAsked, WhichLists, page};
use restive_programme::{
    Change, Error, OutcomesAsked, Programme, ReportAsked, ReportSource, System, VerifyAsked, WeekAsked,
    check_list, list_columns, write_list,
};
use restive_report::Page;
use restive_report::list::List;
use restive_tables::{Cells, Looks, check_file, recognise_bytes, write_files};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) fn refused(error: Error) -> PyErr {
    match error {
        Error::Tables(error) => of_tables(error),
        Error::Import(error) => match *error {
            restive_import::Error::Tables(error) => of_tables(error),
            other => PyValueError::new_err(other.to_string()),
        },
        Error::Pipeline(error) => of_pipeline(*error),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The cells of a column, for a table.
pub(crate) fn cells<'py>(py: Python<'py>, cells: &Cells) -> PyResult<Bound<'py, PyAny>> {
    Ok(match cells {
        Cells::Text(texts) => {
            PyList::new(py, texts.iter().map(|text| (!text.is_empty()).then_some(text)))?.into_any()
        }
        Cells::Truth(truths) => PyArray1::from_slice(py, truths).into_any(),
        Cells::Number(numbers) => PyArray1::from_slice(py, numbers).into_any(),
        Cells::Whole(cells) => whole(py, cells.iter().copied())?,
    })
}

fn table<'py>(py: Python<'py>, list: &List) -> PyResult<Vec<Column<'py>>> {
    list_columns(list).iter().map(|(name, column)| Ok((name.clone(), cells(py, column)?))).collect()
}

fn named<T: std::str::FromStr<Err = String>>(what: &str, name: Option<String>) -> PyResult<Option<T>> {
    let parsed = name.map(|name| name.parse()).transpose();
    parsed.map_err(|message: String| PyValueError::new_err(format!("{what}: {message}")))
}

fn write(list: &List, out: &[PathBuf], system: Option<System>, replace: bool) -> Result<(), Error> {
    out.iter().try_for_each(|path| write_list(list, path, system, replace))
}

/// (what `restive plan --json` says, the list as columns, notes and warnings).
#[pyfunction]
fn programme_plan<'py>(
    py: Python<'py>,
    folder: PathBuf,
    budget: Option<usize>,
    explore: Option<f64>,
    rules: Option<PathBuf>,
    model: Option<String>,
    policy: Option<String>,
    remaining: Option<usize>,
    history: Option<bool>,
    only_beneficial: bool,
    index_discount: Option<f64>,
    seed: u64,
    again: bool,
    rehearse: bool,
    out: Vec<PathBuf>,
    system: Option<String>,
    replace: bool,
) -> PyResult<(String, Vec<Column<'py>>, Vec<String>)> {
    let (policy, system) = (named("policy", policy)?, named("system", system)?);
    let plan = PlanAsked {
        budget,
        explore,
        policy,
        remaining,
        history,
        only_beneficial,
        index_discount,
        seed,
        ..PlanAsked::default()
    };
    let week = run(py, || -> Result<_, Error> {
        plan.check()?;
        out.iter().try_for_each(|path| check_list(path, system))?;
        let rules = rules.as_deref().map(Rules::read).transpose()?;
        let asked = WeekAsked { plan, rules, model, again, rehearse };
        let week = Programme::open(&folder)?.plan(&asked, Timestamp::now())?;
        write(&week.list, &out, system, replace)?;
        Ok(week)
    })?
    .map_err(refused)?;
    let said = serde_json::to_string(&week).expect("plain values");
    let notes = week.notes.iter().cloned().chain(week.warnings.iter().map(keywords));
    Ok((said, table(py, &week.list)?, notes.collect()))
}

/// (the plan, the list as columns).
#[pyfunction]
fn programme_list<'py>(
    py: Python<'py>,
    folder: PathBuf,
    plan: Option<String>,
    out: Vec<PathBuf>,
    system: Option<String>,
    replace: bool,
) -> PyResult<(String, Vec<Column<'py>>)> {
    let system = named("system", system)?;
    let list = run(py, || -> Result<_, Error> {
        let list = Programme::open(&folder)?.list(plan.as_deref())?;
        write(&list, &out, system, replace)?;
        Ok(list)
    })?
    .map_err(refused)?;
    Ok((list.plan.clone(), table(py, &list)?))
}

/// What `restive outcomes --json` says.
#[pyfunction]
fn programme_outcomes(
    py: Python<'_>,
    folder: PathBuf,
    files: Vec<PathBuf>,
    plan: Option<String>,
    day_format: Option<String>,
) -> PyResult<String> {
    let asked = OutcomesAsked { plan, day_format };
    let told = run(py, || Programme::open(&folder)?.outcomes(&files, &asked, Timestamp::now()))?;
    Ok(serde_json::to_string(&told.map_err(refused)?).expect("plain values"))
}

/// (what `restive programme status --json` says, its lines).
#[pyfunction]
fn programme_status(py: Python<'_>, folder: PathBuf) -> PyResult<(String, Vec<(&'static str, String)>)> {
    let status = run(py, || Programme::open(&folder)?.status(Zoned::now().date()))?.map_err(refused)?;
    Ok((serde_json::to_string(&status).expect("plain values"), status.lines()))
}

/// Puts somebody on a list, or takes her off; the plan.
#[pyfunction]
fn programme_change(
    py: Python<'_>,
    folder: PathBuf,
    is_added: bool,
    id: String,
    who: String,
    why: String,
    plan: Option<String>,
) -> PyResult<String> {
    let kind = if is_added { Change::Added } else { Change::Removed };
    let change =
        || Programme::open(&folder)?.change(kind, plan.as_deref(), &id, &who, &why, Timestamp::now());
    run(py, change)?.map_err(refused)
}

/// What `restive audit list --json` says.
#[pyfunction]
fn programme_audit_list(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    json(run(py, || Programme::open(&folder)?.audit_list())?)
}

/// What `restive audit show --json` says.
#[pyfunction]
fn programme_audit_show(py: Python<'_>, folder: PathBuf, plan: Option<String>) -> PyResult<String> {
    json(run(py, || Programme::open(&folder)?.audit_show(plan.as_deref()))?)
}

/// What `restive audit verify --json` says, and whether all is well.
#[pyfunction]
fn programme_audit_verify(
    py: Python<'_>,
    folder: PathBuf,
    plan: Option<String>,
    head: Option<String>,
    quick: bool,
) -> PyResult<(String, bool)> {
    let asked = VerifyAsked { plan, head, quick };
    let verified = run(py, || Programme::open(&folder)?.verify(&asked, |_, _| ()))?.map_err(refused)?;
    let is_well = verified.is_well();
    Ok((json(Ok(verified))?, is_well))
}

/// What `restive audit diff --json` says.
#[pyfunction]
fn programme_audit_diff(
    py: Python<'_>,
    folder: PathBuf,
    before: Option<String>,
    after: Option<String>,
) -> PyResult<String> {
    json(run(py, || Programme::open(&folder)?.diff(before.as_deref(), after.as_deref()))?)
}

/// What `restive fairness --json` says, and the verdict; the page is written where a path is given.
#[pyfunction]
fn programme_fairness(
    py: Python<'_>,
    folder: PathBuf,
    by: Vec<String>,
    cross: Vec<[String; 2]>,
    plan: Option<String>,
    last: Option<usize>,
    least: u64,
    floors: Vec<[String; 2]>,
    out: Option<PathBuf>,
    replace: bool,
) -> PyResult<(String, String)> {
    let lists = match (plan, last) {
        (Some(id), None) => WhichLists::Plan(id),
        (None, Some(count)) => WhichLists::Last(count),
        (None, None) => WhichLists::Latest,
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err("plan and last: found both, expected one of them"));
        }
    };
    let asked = FairnessAsked { by, cross, lists, least, floors };
    let answer = run(py, || -> Result<_, Error> {
        let answer = Programme::open(&folder)?.fairness(&asked)?;
        write_page(out.as_deref(), &page(&answer), replace)?;
        Ok(answer)
    })?
    .map_err(refused)?;
    let verdict = answer.verdict();
    Ok((json(Ok(answer))?, verdict))
}

/// What `restive report --json` says, and the verdict; the page is written.
#[pyfunction]
fn programme_report(
    py: Python<'_>,
    folder: PathBuf,
    out: PathBuf,
    model: Option<String>,
    by: Vec<String>,
    quick: bool,
    seed: u64,
    replace: bool,
) -> PyResult<(String, String)> {
    let asked = ReportAsked { by, quick, seed };
    let (report, page) = run(py, || -> Result<_, Error> {
        let programme = Programme::open(&folder)?;
        check_page(&out, replace)?;
        let source = ReportSource::of_programme(&programme, model.as_deref(), seed, Timestamp::now())?;
        let mut looks = (!quick).then(|| Looks::read(&programme.study())).transpose()?;
        let report = source.report(&asked, looks.as_mut(), |_| Ok::<_, Error>(()))?;
        if let (Some(looks), Some(Outcome::Answer(_))) = (&looks, &report.evidence) {
            looks.write(&programme.study())?;
        }
        let page = report.page();
        write_page(Some(&out), &page, replace)?;
        Ok((report, page))
    })?
    .map_err(refused)?;
    Ok((json(Ok(report))?, page.verdict))
}

fn is_page(path: &Path) -> restive_tables::Result<()> {
    recognise_bytes(path, "something else", "a page", Page::recognises)
}

fn check_page(out: &Path, replace: bool) -> Result<(), Error> {
    if out.extension().is_none_or(|ending| ending != "html") {
        let found = format!("{}: found no .html, expected a name that ends in it", out.display());
        return Err(Error::Refused(found));
    }
    Ok(check_file(out, replace.then_some(is_page))?)
}

fn write_page(out: Option<&Path>, page: &Page, replace: bool) -> Result<(), Error> {
    let Some(out) = out else { return Ok(()) };
    check_page(out, replace)?;
    Ok(write_files(&[(out.to_path_buf(), page.html().as_bytes())], replace.then_some(is_page))?)
}

fn json(answer: Result<impl Serialize, Error>) -> PyResult<String> {
    Ok(serde_json::to_string(&answer.map_err(refused)?).expect("plain values"))
}

/// Writes the files that people edit; which were not there.
#[pyfunction]
fn programme_init(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
    run(py, || Programme::open(&folder)?.init())?.map_err(refused)
}

/// The folder for a model that is trained today.
#[pyfunction]
fn programme_new_model(folder: PathBuf) -> PyResult<PathBuf> {
    let new = |folder: &Path| Programme::open(folder)?.new_model(Zoned::now().date());
    new(&folder).map_err(refused)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(programme_plan, module)?)?;
    module.add_function(wrap_pyfunction!(programme_list, module)?)?;
    module.add_function(wrap_pyfunction!(programme_outcomes, module)?)?;
    module.add_function(wrap_pyfunction!(programme_status, module)?)?;
    module.add_function(wrap_pyfunction!(programme_change, module)?)?;
    module.add_function(wrap_pyfunction!(programme_fairness, module)?)?;
    module.add_function(wrap_pyfunction!(programme_report, module)?)?;
    module.add_function(wrap_pyfunction!(programme_audit_list, module)?)?;
    module.add_function(wrap_pyfunction!(programme_audit_show, module)?)?;
    module.add_function(wrap_pyfunction!(programme_audit_verify, module)?)?;
    module.add_function(wrap_pyfunction!(programme_audit_diff, module)?)?;
    module.add_function(wrap_pyfunction!(programme_init, module)?)?;
    module.add_function(wrap_pyfunction!(programme_new_model, module)?)
}
