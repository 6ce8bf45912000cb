//! A kind of our own, from its Rust type to objects of it.

use crate::{NAMESPACE, refusal};
use anyhow::Result;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::core::CustomResourceExt;
use kube::discovery::{Discovery, oneshot};
use kube::runtime::wait::{await_condition, conditions::is_crd_established};
use kube::{Api, Client, CustomResource};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "kube-rs.example.com",
    version = "v1",
    kind = "Gadget",
    namespaced,
    status = "GadgetStatus"
)]
#[kube(
    shortname = "gd",
    printcolumn = r#"{"name":"Size","type":"integer","jsonPath":".spec.size"}"#
)]
#[kube(scale(
    spec_replicas_path = ".spec.size",
    status_replicas_path = ".status.ready"
))]
pub struct GadgetSpec {
    #[schemars(range(min = 0, max = 10))]
    pub size: i32,
    #[serde(default = "red")]
    pub color: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct GadgetStatus {
    pub ready: i32,
}

fn red() -> String {
    "red".into()
}

pub async fn install(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let apply = PatchParams::apply("kube-rs").force();
    definitions
        .patch(Gadget::crd_name(), &apply, &Patch::Apply(Gadget::crd()))
        .await?;
    await_condition(
        definitions.clone(),
        Gadget::crd_name(),
        is_crd_established(),
    )
    .await?;
    let made = definitions.get(Gadget::crd_name()).await?;
    let mut conditions: Vec<_> = made
        .status
        .and_then(|status| status.conditions)
        .unwrap_or_default()
        .into_iter()
        .map(|condition| {
            format!(
                "{}={} {}",
                condition.type_,
                condition.status,
                condition.reason.unwrap_or_default()
            )
        })
        .collect();
    conditions.sort();
    println!("definition {conditions:?}");
    Ok(())
}

pub async fn remove(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    match definitions.get_opt(Gadget::crd_name()).await? {
        Some(_) => crate::delete(&definitions, Gadget::crd_name()).await,
        None => Ok(()),
    }
}

/// Every way in which kube-rs asks what a server has.
pub async fn discover(client: &Client) -> Result<()> {
    let version = client.apiserver_version().await?;
    println!("server {}.{}", version.major, version.minor);
    let kind = GroupVersionKind::gvk("kube-rs.example.com", "v1", "Gadget");
    // A definition may be established a moment before discovery knows of it.
    let (resource, capabilities) = loop {
        match oneshot::pinned_kind(client, &kind).await {
            Ok(found) => break found,
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
        }
    };
    let mut subresources: Vec<_> = capabilities
        .subresources
        .iter()
        .map(|(sub, _)| sub.plural.clone())
        .collect();
    subresources.sort();
    println!(
        "kind {} {:?} {subresources:?} {:?}",
        resource.plural, capabilities.scope, capabilities.operations
    );
    for discovery in [
        Discovery::new(client.clone()).run().await?,
        Discovery::new(client.clone()).run_aggregated().await?,
    ] {
        // Other groups may have been defined by others.
        let groups: Vec<_> = discovery
            .groups_alphabetical()
            .into_iter()
            .filter(|group| !group.name().contains('.') || group.name().ends_with(".k8s.io"))
            .map(|group| {
                format!(
                    "{}/{} {}",
                    group.name(),
                    group.preferred_version_or_latest(),
                    group.recommended_resources().len()
                )
            })
            .collect();
        println!("groups {groups:?}");
        println!("has ours {}", discovery.resolve_gvk(&kind).is_some());
    }
    Ok(())
}

pub async fn custom_objects(client: &Client) -> Result<()> {
    let gadgets: Api<Gadget> = Api::namespaced(client.clone(), NAMESPACE);
    let post = PostParams::default();
    let made: Gadget = serde_json::from_value(
        json!({"apiVersion": "kube-rs.example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}, "spec": {"size": 1}}),
    )?;
    let stored = gadgets.create(&post, &made).await?;
    println!(
        "gadget {:?} generation {:?}",
        stored.spec, stored.metadata.generation
    );
    let large = Patch::Merge(json!({"spec": {"size": 11}}));
    println!(
        "too large {}",
        refusal(gadgets.patch("g", &PatchParams::default(), &large).await)
    );
    let mut ready = stored.clone();
    ready.status = Some(GadgetStatus { ready: 1 });
    ready.spec.size = 5;
    let ready = gadgets.replace_status("g", &post, &ready).await?;
    println!(
        "status {:?}, size {}, generation {:?}",
        ready.status, ready.spec.size, ready.metadata.generation
    );
    let scale = gadgets
        .patch_scale(
            "g",
            &PatchParams::default(),
            &Patch::Merge(json!({"spec": {"replicas": 3}})),
        )
        .await?;
    println!("scale {:?} {:?}", scale.spec, scale.status);
    let dynamic = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "kube-rs.example.com",
        "v1",
        "Gadget",
    ));
    let objects: Api<DynamicObject> = Api::namespaced_with(client.clone(), NAMESPACE, &dynamic);
    let seen = objects.get("g").await?;
    println!("dynamic {} {}", seen.data["spec"], seen.data["status"]);
    crate::delete(&gadgets, "g").await
}
