//! A programme's people as a table of DataFusion: the plan and the scores of one machine.

use arrow::array::{Float64Array, StringArray, cast::AsArray};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use restive_datafusion::{PlanJob, plan, register};
use restive_pipeline::{Applied, Asked, PlanAsked, PolicyName, PredictorName, Rules, Trained, Training};
use restive_tables::{Roll, Study, write_people};
use std::path::Path;

/// A study of 400 people who answer to calls, and who differ.
fn study(folder: &Path) {
    let mut random = 7u64;
    let mut draw = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 40) as f64 / (1u64 << 24) as f64
    };
    let (mut arms, mut log) =
        ("arm,age,district\n".to_string(), "trajectory,t,arm,state,action\n".to_string());
    for i in 0..400 {
        let age = 20 + i % 17;
        arms += &format!("p{i},{age},{}\n", ["north", "south", "east"][i % 3]);
        let mut state = u8::from(draw() < 0.5);
        for t in 0..6 {
            let action = u8::from(draw() < 0.3);
            let said = if t == 5 { String::new() } else { action.to_string() };
            log += &format!("1,{t},p{i},{state},{said}\n");
            let up = 0.1 + 0.03 * (age - 20) as f64 + 0.25 * f64::from(action);
            state = u8::from(draw() < up);
        }
    }
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("study.toml", "states = 2\ndiscount = 0.9\nbudget = 20\nhorizon = 6\nbehaviour = \"uniform\"\n");
    write("arms.csv", &arms);
    write("trajectories.csv", &log);
}

struct Made {
    folder: tempfile::TempDir,
    study: Study,
    trained: Trained,
    asked: PlanAsked,
}

impl Made {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        study(folder.path());
        let study = Study::read(folder.path()).unwrap();
        let asked = Asked { predictor: Some(PredictorName::Hierarchical), ..Asked::default() };
        let training = Training::new(&study, &asked, "a study").unwrap();
        let run = training.run(Default::default(), None, |_| Ok::<_, restive_pipeline::Error>(())).unwrap();
        let trained = Trained::new(training.model(run.members, run.histories)).unwrap();
        let text = "[[limit]]\nby = \"district\"\nat_most = 8\n[[cool_down]]\nperiods = 1\n";
        let rules = Rules::parse(Path::new("rules.toml"), text).unwrap();
        let asked = PlanAsked { rules, policy: Some(PolicyName::Whittle), ..PlanAsked::default() };
        let roll = Roll::read(folder.path()).unwrap();
        write_people(&roll, &folder.path().join("people"), 3).unwrap();
        Self { folder, study, trained, asked }
    }

    fn job(&self) -> PlanJob {
        let settings = std::fs::read_to_string(self.folder.path().join("study.toml")).unwrap();
        PlanJob::new(self.trained.clone(), &settings, self.asked.clone(), 5).unwrap()
    }

    async fn context(&self) -> SessionContext {
        let context = SessionContext::new_with_config(
            SessionConfig::new().with_target_partitions(3).with_batch_size(64),
        );
        let people = self.folder.path().join("people");
        context
            .register_parquet("people", people.to_str().unwrap(), ParquetReadOptions::default())
            .await
            .unwrap();
        context
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_plan_is_that_of_one_machine() {
    let made = Made::new();
    let people = made.context().await.table("people").await.unwrap();
    let (found, _) = plan(&people, &made.job()).await.unwrap();
    let applied = Applied::new(&made.trained, &made.study, "the model", "the study").unwrap();
    let truth = applied.plan(&made.asked).unwrap();
    assert_eq!(serde_json::to_string(&found).unwrap(), serde_json::to_string(&truth).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn sql_can_ask_for_scores() {
    let made = Made::new();
    let context = made.context().await;
    register(&context, "restive_score", made.job()).unwrap();
    let columns =
        ["arm", "age", "district", "state", "moves_0_0_0", "moves_0_0_1", "moves_0_1_0", "moves_0_1_1"];
    let more = ["moves_1_0_0", "moves_1_0_1", "moves_1_1_0", "moves_1_1_1", "begins_0", "begins_1"];
    let named: Vec<String> = columns.iter().chain(&more).map(|name| format!("'{name}', {name}")).collect();
    let query = format!("SELECT arm, restive_score(named_struct({})) AS score FROM people", named.join(", "));
    let query =
        format!("SELECT arm, score['index'] AS index FROM ({query}) ORDER BY index DESC, arm LIMIT 30");
    let found = context.sql(&query).await.unwrap().collect().await.unwrap();
    let applied = Applied::new(&made.trained, &made.study, "the model", "the study").unwrap();
    let free = PlanAsked { policy: Some(PolicyName::Whittle), ..PlanAsked::default() };
    let truth = applied.plan(&free).unwrap();
    let mut best: Vec<(f64, String)> =
        truth.eligible.iter().map(|one| (one.score, made.study.instances[0].arms[one.arm].clone())).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut rows = 0;
    for batch in found {
        let arms = batch
            .column(0)
            .as_any()
            .downcast_ref::<StringArray>()
            .map(|arms| arms.iter().map(|arm| arm.unwrap().to_string()).collect::<Vec<_>>());
        let arms = arms.unwrap_or_else(|| {
            batch.column(0).as_string_view().iter().map(|arm| arm.unwrap().to_string()).collect()
        });
        let index = batch.column(1).as_any().downcast_ref::<Float64Array>().unwrap();
        for (row, arm) in arms.into_iter().enumerate() {
            assert_eq!((index.value(row), &arm), (best[rows].0 + 0.0, &best[rows].1));
            rows += 1;
        }
    }
    assert_eq!(rows, 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_names_partition_row_and_reason() {
    let made = Made::new();
    let context = made.context().await;
    let query = "SELECT * REPLACE (CASE WHEN arm = 'p77' THEN 9 ELSE state END AS state) FROM people";
    let poisoned = context.sql(query).await.unwrap();
    let said = plan(&poisoned, &made.job()).await.map(drop).unwrap_err().to_string();
    for part in ["partition ", "batch ", "(arm p77)", "column state", "found 9"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    register(&context, "restive_score", made.job()).unwrap();
    let refused = context.sql("SELECT restive_score(state) FROM people").await;
    let said = match refused {
        Ok(frame) => frame.collect().await.map(drop).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(said.contains("struct"), "{said}");
}
