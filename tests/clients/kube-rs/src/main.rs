//! Uses an API server the way programs on kube-rs do, and prints what it saw: the same lines on every server that behaves.
//!
//! The server is the one of KUBECONFIG, and the user an administrator. What it makes is in a namespace of its own, which it deletes.

mod controller;
mod definition;
mod objects;
mod watching;

use anyhow::Result;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, PostParams};
use kube::runtime::wait::{await_condition, conditions::is_deleted};
use kube::{Api, Client, Error, ResourceExt};
use serde_json::json;
use std::time::Duration;

pub const NAMESPACE: &str = "kube-rs-client";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let client = Client::try_default().await?;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let made = serde_json::from_value(json!({"metadata": {"name": NAMESPACE}}))?;
    namespaces.create(&PostParams::default(), &made).await?;
    let outcome = tokio::time::timeout(Duration::from_secs(180), check(&client)).await;
    definition::remove(&client).await?;
    delete(&namespaces, NAMESPACE).await?;
    outcome?
}

async fn check(client: &Client) -> Result<()> {
    objects::create_read_change_delete(client).await?;
    objects::stale_writes(client).await?;
    objects::pages(client).await?;
    objects::entry(client).await?;
    objects::server_side_apply(client).await?;
    objects::subresources(client).await?;
    objects::rollout(client).await?;
    objects::lease(client).await?;
    watching::changes(client).await?;
    watching::lists_and_streams(client).await?;
    watching::metadata_only(client).await?;
    definition::install(client).await?;
    definition::discover(client).await?;
    definition::custom_objects(client).await?;
    controller::run(client).await
}

/// Deletes an object and waits until it is gone.
pub async fn delete<K>(api: &Api<K>, name: &str) -> Result<()>
where
    K: kube::Resource + Clone + std::fmt::Debug + Send + serde::de::DeserializeOwned + 'static,
{
    let uid = api.get(name).await?.uid().unwrap_or_default();
    api.delete(name, &DeleteParams::background()).await?;
    await_condition(api.clone(), name, is_deleted(&uid)).await?;
    Ok(())
}

/// Code, reason and message of what must have been refused.
pub fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Api(status)) => format!("{} {}: {}", status.code, status.reason, status.message),
        other => format!("not refused: {other:?}"),
    }
}
