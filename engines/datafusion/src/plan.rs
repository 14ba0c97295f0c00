//! A plan of a data frame: three passes over its partitions, each on a task of its own.

use crate::score::outside;
use arrow::array::RecordBatch;
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::DataFrame;
use futures::StreamExt;
use restive_pipeline::Plan;
use restive_pipeline::partition::{Details, PlanJob, Sampled, Wanted};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Whom to call, of the people of a data frame, and what should be known before that is trusted.
pub async fn plan(people: &DataFrame, job: &PlanJob) -> Result<(Plan, Vec<String>)> {
    let job_now = Arc::new(job.clone());
    let mut sampled = Sampled::default();
    for part in
        pass(people, job_now, |_| Ok(Sampled::default()), |job, part, batch| job.sample(part, batch)).await?
    {
        sampled.merge(part);
    }
    let job = Arc::new(job.priced(sampled).map_err(outside)?);
    let mut gathered = job.gathered().map_err(outside)?;
    for part in
        pass(people, job.clone(), PlanJob::gathered, |job, part, batch| job.gather(part, batch)).await?
    {
        job.merge(&mut gathered, part).map_err(outside)?;
    }
    let draft = job.draft(gathered).map_err(outside)?;
    let wanted = Arc::new(Wanted::from_bytes(&draft.wanted().to_bytes()).map_err(outside)?);
    let mut details = Details::default();
    let look =
        move |job: &PlanJob, part: &mut Details, batch: &RecordBatch| job.details(part, &wanted, batch);
    for part in pass(people, job.clone(), |_| Ok(Details::default()), look).await? {
        details.merge(part);
    }
    draft.finish(details).map_err(outside)
}

/// One pass: what `take` makes of every partition, in no order that matters; an error names the partition and the batch.
async fn pass<T: Send + 'static>(
    people: &DataFrame,
    job: Arc<PlanJob>,
    begin: fn(&PlanJob) -> restive_pipeline::Result<T>,
    take: impl Fn(&PlanJob, &mut T, &RecordBatch) -> restive_pipeline::Result<()> + Clone + Send + 'static,
) -> Result<Vec<T>> {
    let mut tasks = JoinSet::new();
    for (number, mut stream) in people.clone().execute_stream_partitioned().await?.into_iter().enumerate() {
        let (job, take) = (job.clone(), take.clone());
        tasks.spawn(async move {
            let mut part = begin(&job).map_err(outside)?;
            let mut batches = 0;
            while let Some(batch) = stream.next().await {
                let taken = take(&job, &mut part, &batch?);
                taken.map_err(|error| {
                    outside(error).context(format!("partition {number}, batch {batches}"))
                })?;
                batches += 1;
            }
            Ok::<T, DataFusionError>(part)
        });
    }
    let mut parts = Vec::new();
    while let Some(done) = tasks.join_next().await {
        parts.push(done.map_err(|error| DataFusionError::External(Box::new(error)))??);
    }
    Ok(parts)
}
