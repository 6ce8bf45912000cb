//! A controller with a finalizer, children, status and events: what most programs on kube-rs are.

use crate::NAMESPACE;
use crate::definition::{Gadget, GadgetSpec};
use anyhow::{Context as _, Result};
use futures::{StreamExt, future::ready};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::events::v1::Event as Recorded;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{Event as Finalize, finalizer};
use kube::runtime::wait::{await_condition, conditions::is_deleted};
use kube::runtime::watcher;
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const FINALIZER: &str = "kube-rs.example.com/cleanup";

struct Context {
    client: Client,
    recorder: Recorder,
    cleaned: Mutex<Vec<String>>,
}

pub async fn run(client: &Client) -> Result<()> {
    let gadgets: Api<Gadget> = Api::namespaced(client.clone(), NAMESPACE);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let reporter = Reporter {
        controller: "kube-rs-check".into(),
        instance: Some("one".into()),
    };
    let context = Arc::new(Context {
        client: client.clone(),
        recorder: Recorder::new(client.clone(), reporter),
        cleaned: Mutex::default(),
    });
    let (stop, stopped) = futures::channel::oneshot::channel::<()>();
    let controller = Controller::new(
        gadgets.clone(),
        watcher::Config::default().streaming_lists(),
    )
    .owns(maps.clone(), watcher::Config::default())
    .graceful_shutdown_on(async { stopped.await.unwrap_or_default() })
    .run(
        reconcile,
        |_, _, _| Action::requeue(Duration::from_millis(100)),
        context.clone(),
    )
    .for_each(|_| ready(()));
    let (outcome, ()) = futures::join!(drive(client, &gadgets, &maps, stop), controller);
    outcome?;
    println!(
        "cleaned up {:?}",
        context.cleaned.lock().ok().context("nobody panicked")?
    );
    Ok(())
}

async fn drive(
    client: &Client,
    gadgets: &Api<Gadget>,
    maps: &Api<ConfigMap>,
    stop: futures::channel::oneshot::Sender<()>,
) -> Result<()> {
    let spec = GadgetSpec {
        size: 2,
        color: "blue".into(),
    };
    let made = gadgets
        .create(&PostParams::default(), &Gadget::new("made", spec))
        .await?;
    let uid = made.uid().unwrap_or_default();
    await_condition(gadgets.clone(), "made", is_ready(2)).await?;
    gadgets
        .patch(
            "made",
            &PatchParams::default(),
            &Patch::Merge(json!({"spec": {"size": 3}})),
        )
        .await?;
    await_condition(gadgets.clone(), "made", is_ready(3)).await?;
    let child = maps.get("made").await?;
    println!(
        "child {:?} of {:?}",
        child.data,
        child
            .owner_references()
            .iter()
            .map(|owner| &owner.kind)
            .collect::<Vec<_>>()
    );
    let old = child.uid().unwrap_or_default();
    maps.delete("made", &DeleteParams::default()).await?;
    await_condition(maps.clone(), "made", move |map: Option<&ConfigMap>| {
        map.is_some_and(|map| map.uid().is_some_and(|uid| uid != old))
    })
    .await?;
    println!("the child came back");
    gadgets.delete("made", &DeleteParams::default()).await?;
    await_condition(gadgets.clone(), "made", is_deleted(&uid)).await?;
    let events: Api<Recorded> = Api::namespaced(client.clone(), NAMESPACE);
    let mine = events
        .list(&ListParams::default().fields("reason=Resized"))
        .await?;
    let mut notes: Vec<_> = mine
        .items
        .iter()
        .map(|event| event.note.clone().unwrap_or_default())
        .collect();
    notes.sort();
    println!("events {notes:?}");
    drop(stop);
    Ok(())
}

fn is_ready(size: i32) -> impl Fn(Option<&Gadget>) -> bool {
    move |gadget| {
        gadget
            .and_then(|gadget| gadget.status.as_ref())
            .is_some_and(|status| status.ready == size)
    }
}

async fn reconcile(
    gadget: Arc<Gadget>,
    context: Arc<Context>,
) -> Result<Action, kube::runtime::finalizer::Error<kube::Error>> {
    let gadgets: Api<Gadget> = Api::namespaced(context.client.clone(), NAMESPACE);
    finalizer(&gadgets, FINALIZER, gadget, async |event| match event {
        Finalize::Apply(gadget) => apply(&gadget, &context).await,
        Finalize::Cleanup(gadget) => {
            if let Ok(mut cleaned) = context.cleaned.lock() {
                cleaned.push(gadget.name_any());
            }
            Ok(Action::await_change())
        }
    })
    .await
}

async fn apply(gadget: &Gadget, context: &Context) -> Result<Action, kube::Error> {
    let params = PatchParams::apply("kube-rs-check").force();
    let name = gadget.name_any();
    let maps: Api<ConfigMap> = Api::namespaced(context.client.clone(), NAMESPACE);
    let child = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "ownerReferences": [gadget.controller_owner_ref(&())]},
        "data": {"size": gadget.spec.size.to_string()},
    });
    maps.patch(&name, &params, &Patch::Apply(child)).await?;
    if gadget
        .status
        .as_ref()
        .is_none_or(|status| status.ready != gadget.spec.size)
    {
        let event = Event {
            type_: EventType::Normal,
            reason: "Resized".into(),
            note: Some(format!("to {}", gadget.spec.size)),
            action: "Resize".into(),
            secondary: None,
        };
        context
            .recorder
            .publish(&event, &gadget.object_ref(&()))
            .await?;
        let gadgets: Api<Gadget> = Api::namespaced(context.client.clone(), NAMESPACE);
        let status = json!({"apiVersion": "kube-rs.example.com/v1", "kind": "Gadget", "status": {"ready": gadget.spec.size}});
        gadgets
            .patch_status(&name, &params, &Patch::Apply(status))
            .await?;
    }
    Ok(Action::await_change())
}
