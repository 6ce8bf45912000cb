//! Watches: by hand, and kube-rs' watcher with lists and with streamed lists.

use crate::{NAMESPACE, objects::config_map};
use anyhow::{Context, Result, bail};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{
    DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::core::PartialObjectMeta;
use kube::runtime::watcher;
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use std::fmt::Debug;

async fn change(maps: &Api<ConfigMap>, name: &str) -> Result<()> {
    maps.create(
        &PostParams::default(),
        &config_map(name, json!({"k": "1"}))?,
    )
    .await?;
    maps.patch(
        name,
        &PatchParams::default(),
        &Patch::Merge(json!({"data": {"k": "2"}})),
    )
    .await?;
    maps.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

/// The changes since a list, and no others; then what is said of a version that nobody can know yet.
pub async fn changes(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let version = maps
        .list(&ListParams::default())
        .await?
        .metadata
        .resource_version
        .context("a list has a version")?;
    change(&maps, "w").await?;
    let params = WatchParams::default().timeout(2).labels("suite=kube-rs");
    let mut events = maps.watch(&params, &version).await?.boxed();
    while let Some(event) = events.try_next().await? {
        match event {
            WatchEvent::Added(map) => println!("watch added {} {:?}", map.name_any(), map.data),
            WatchEvent::Modified(map) => {
                println!("watch modified {} {:?}", map.name_any(), map.data)
            }
            WatchEvent::Deleted(map) => println!("watch deleted {} {:?}", map.name_any(), map.data),
            WatchEvent::Bookmark(mark) => println!("watch bookmark of {}", mark.types.kind),
            WatchEvent::Error(status) => println!("watch error {} {}", status.code, status.reason),
        }
    }
    Ok(())
}

pub async fn lists_and_streams(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let selected = watcher::Config::default().labels("suite=kube-rs");
    for (how, config) in [
        ("listed", selected.clone()),
        ("paged", selected.clone().page_size(1)),
        ("any version", selected.clone().any_semantic()),
        ("streamed", selected.streaming_lists()),
    ] {
        let mut events = watcher(maps.clone(), config).boxed();
        let before = until_synced(how, &mut events).await?;
        change(&maps, "watched").await?;
        for _ in 0..3 {
            println!("{how} {}", next(&mut events).await?);
        }
        println!("{how} started with {before:?}");
    }
    Ok(())
}

pub async fn metadata_only(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let partial: Api<PartialObjectMeta<ConfigMap>> = Api::namespaced(client.clone(), NAMESPACE);
    for config in [
        watcher::Config::default(),
        watcher::Config::default().streaming_lists(),
    ] {
        let mut events = watcher(partial.clone(), config.labels("suite=kube-rs")).boxed();
        until_synced("metadata", &mut events).await?;
        change(&maps, "partial").await?;
        for _ in 0..3 {
            println!("metadata {}", next(&mut events).await?);
        }
    }
    Ok(())
}

type Events<'a, K> = dyn Stream<Item = watcher::Result<watcher::Event<K>>> + Unpin + Send + 'a;

async fn until_synced<K: ResourceExt + Debug>(
    how: &str,
    events: &mut Events<'_, K>,
) -> Result<Vec<String>> {
    let mut names = Vec::new();
    loop {
        match events.next().await {
            Some(Ok(watcher::Event::Init)) => println!("{how} Init"),
            Some(Ok(watcher::Event::InitApply(object))) => names.push(object.name_any()),
            Some(Ok(watcher::Event::InitDone)) => break,
            other => bail!("{how}: {other:?}"),
        }
    }
    names.sort();
    Ok(names)
}

async fn next<K: ResourceExt>(events: &mut Events<'_, K>) -> Result<String> {
    Ok(events.next().await.context("the watch ended")??.to_string())
}
