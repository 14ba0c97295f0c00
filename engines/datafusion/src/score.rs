//! What a model says of people, as a scalar function of a struct of their columns.

use arrow::array::{Array, RecordBatch, StructArray, cast::AsArray};
use arrow::datatypes::DataType;
use datafusion::common::exec_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::prelude::SessionContext;
use restive_pipeline::partition::PlanJob;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The function: a job and the name by which SQL calls it.
pub struct Score {
    name: String,
    signature: Signature,
    job: Arc<PlanJob>,
    /// of the job: functions are the same where these are
    bytes: Vec<u8>,
}

impl Score {
    /// Of a job.
    pub fn new(name: &str, job: PlanJob) -> Result<Self> {
        let bytes = job.to_bytes().map_err(outside)?;
        Ok(Self {
            name: name.into(),
            signature: Signature::any(1, Volatility::Immutable),
            job: Arc::new(job),
            bytes,
        })
    }
}

/// Lets SQL call a job by a name.
pub fn register(context: &SessionContext, name: &str, job: PlanJob) -> Result<()> {
    context.register_udf(ScalarUDF::from(Score::new(name, job)?));
    Ok(())
}

/// An error of restive as one of DataFusion.
pub(crate) fn outside(error: restive_pipeline::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl std::fmt::Debug for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Score").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.bytes) == (&other.name, &other.bytes)
    }
}

impl Eq for Score {}

impl Hash for Score {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, &self.bytes).hash(state);
    }
}

impl ScalarUDFImpl for Score {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [DataType::Struct(_)] => Ok(DataType::Struct(PlanJob::score_schema().fields().clone())),
            other => {
                exec_err!("{}: found {other:?}, expected one struct of the columns of people", self.name)
            }
        }
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = arguments.number_rows;
        let people = match &arguments.args[..] {
            [people] => people.to_array(rows)?,
            _ => return exec_err!("{}: expected one struct of the columns of people", self.name),
        };
        let Some(people) = people.as_struct_opt() else {
            return exec_err!("{}: found {}, expected a struct", self.name, people.data_type());
        };
        let scored = self.job.score(&RecordBatch::from(people)).map_err(outside)?;
        Ok(ColumnarValue::Array(Arc::new(StructArray::from(scored))))
    }
}
