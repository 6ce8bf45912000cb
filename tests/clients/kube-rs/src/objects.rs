//! Single objects: what is written, what is refused, and what comes back.

use crate::{NAMESPACE, refusal};
use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::autoscaling::v1::Scale;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions::is_deployment_completed};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub fn config_map(name: &str, data: Value) -> Result<ConfigMap> {
    let labels = json!({"suite": "kube-rs"});
    Ok(serde_json::from_value(
        json!({"metadata": {"name": name, "labels": labels}, "data": data}),
    )?)
}

pub async fn create_read_change_delete(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let post = PostParams::default();
    let mut made = maps
        .create(&post, &config_map("a", json!({"k": "1"}))?)
        .await?;
    println!("created {} {:?}", made.name_any(), made.data);
    println!(
        "again {}",
        refusal(maps.create(&post, &config_map("a", json!({}))?).await)
    );
    made.data = Some(BTreeMap::from([("k".into(), "2".into())]));
    println!("replaced {:?}", maps.replace("a", &post, &made).await?.data);
    let params = PatchParams::default();
    let merged = maps
        .patch(
            "a",
            &params,
            &Patch::Merge(json!({"data": {"z": "3", "k": null}})),
        )
        .await?;
    println!("merged {:?}", merged.data);
    let strategic = Patch::Strategic(json!({"metadata": {"annotations": {"n": "1"}}}));
    println!(
        "strategic {:?}",
        maps.patch("a", &params, &strategic).await?.annotations()
    );
    let metadata = maps.get_metadata("a").await?;
    println!(
        "metadata of {} {:?}",
        metadata.types.clone().unwrap_or_default().kind,
        metadata.annotations()
    );
    let dry = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    maps.create(&dry, &config_map("dry", json!({}))?).await?;
    println!(
        "dry run leaves {:?}",
        maps.get_opt("dry").await?.map(|map| map.name_any())
    );
    println!(
        "deleted {}",
        maps.delete("a", &DeleteParams::default()).await?.is_right()
    );
    println!("gone {}", refusal(maps.get("a").await));
    let wrong = serde_json::from_value(json!({"metadata": {"name": "Not_A_Name"}}))?;
    println!("invalid {}", refusal(maps.create(&post, &wrong).await));
    Ok(())
}

pub async fn stale_writes(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let post = PostParams::default();
    let old = maps
        .create(&post, &config_map("stale", json!({"k": "1"}))?)
        .await?;
    maps.patch(
        "stale",
        &PatchParams::default(),
        &Patch::Merge(json!({"data": {"k": "2"}})),
    )
    .await?;
    println!(
        "stale {}",
        refusal(maps.replace("stale", &post, &old).await)
    );
    let wrong = DeleteParams::default().preconditions(kube::api::Preconditions {
        uid: None,
        resource_version: old.resource_version(),
    });
    let refused = refusal(maps.delete("stale", &wrong).await);
    println!(
        "precondition {}",
        refused.split(" (").next().unwrap_or_default()
    );
    Ok(())
}

pub async fn pages(client: &Client) -> Result<()> {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), NAMESPACE);
    for index in 0..5 {
        let labels = json!({"paged": "yes", "even": (index % 2 == 0).to_string()});
        let secret = json!({"metadata": {"name": format!("s{index}"), "labels": labels}, "stringData": {"a": "b"}});
        secrets
            .create(&PostParams::default(), &serde_json::from_value(secret)?)
            .await?;
    }
    let mut params = ListParams::default().labels("paged").limit(2);
    loop {
        let page = secrets.list(&params).await?;
        let names: Vec<_> = page.items.iter().map(ResourceExt::name_any).collect();
        println!(
            "page {names:?}, {:?} more",
            page.metadata.remaining_item_count
        );
        match page.metadata.continue_ {
            Some(token) if !token.is_empty() => params = params.continue_token(&token),
            _ => break,
        }
    }
    let even = secrets
        .list_metadata(&ListParams::default().labels("even=true"))
        .await?;
    println!("selected {}", even.items.len());
    let named = secrets
        .list(&ListParams::default().fields("metadata.name=s3"))
        .await?;
    println!("named {}", named.items.len());
    secrets
        .delete_collection(
            &DeleteParams::default(),
            &ListParams::default().labels("paged"),
        )
        .await?;
    println!(
        "left {}",
        secrets
            .list(&ListParams::default().labels("paged"))
            .await?
            .items
            .len()
    );
    Ok(())
}

/// Read, change and write back, as kube-rs does it for its users.
pub async fn entry(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    for _ in 0..2 {
        let made = config_map("entry", json!({}))?;
        let count = |map: &mut ConfigMap| {
            let data = map.data.get_or_insert_default();
            let next = data
                .get("count")
                .map_or(0, |text| text.parse().unwrap_or(0))
                + 1;
            data.insert("count".into(), next.to_string());
        };
        let mut entry = maps
            .entry("entry")
            .await?
            .or_insert(|| made)
            .and_modify(count);
        entry.commit(&PostParams::default()).await?;
        println!("entry {:?}", entry.get().data);
    }
    Ok(())
}

pub async fn server_side_apply(client: &Client) -> Result<()> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let body = |data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": data});
    let one = PatchParams::apply("one");
    let two = PatchParams::apply("two");
    maps.patch(
        "applied",
        &one,
        &Patch::Apply(body(json!({"a": "1", "b": "1"}))),
    )
    .await?;
    let refused = maps
        .patch("applied", &two, &Patch::Apply(body(json!({"a": "2"}))))
        .await;
    println!("conflict {}", refusal(refused));
    let forced = maps
        .patch(
            "applied",
            &two.force(),
            &Patch::Apply(body(json!({"a": "2"}))),
        )
        .await?;
    println!("forced {:?}", forced.data);
    let dropped = maps
        .patch("applied", &one, &Patch::Apply(body(json!({}))))
        .await?;
    println!("given up {:?}", dropped.data);
    for field in dropped.managed_fields() {
        let fields = field.fields_v1.as_ref().map(|fields| fields.0.to_string());
        println!(
            "managed by {:?} {:?} {fields:?}",
            field.manager, field.operation
        );
    }
    let unnamed = Patch::Apply(json!({"metadata": {"name": "x"}}));
    println!("no kind {}", refusal(maps.patch("x", &one, &unnamed).await));
    let strict = PatchParams {
        field_validation: Some(kube::api::ValidationDirective::Strict),
        ..one
    };
    let unknown = Patch::Apply(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "dta": {}}),
    );
    println!(
        "strict {}",
        refusal(maps.patch("x", &strict, &unknown).await)
    );
    Ok(())
}

fn deployment(name: &str, replicas: i32) -> Result<Deployment> {
    let labels = json!({"app": name});
    let container = json!({"name": "main", "image": "registry.k8s.io/pause:3.10.1"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [container]}});
    let spec =
        json!({"replicas": replicas, "selector": {"matchLabels": labels}, "template": template});
    Ok(serde_json::from_value(
        json!({"metadata": {"name": name}, "spec": spec}),
    )?)
}

fn replicas(scale: &Scale) -> Option<i32> {
    scale.spec.as_ref().and_then(|spec| spec.replicas)
}

pub async fn subresources(client: &Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let mut paused = deployment("paused", 0)?;
    if let Some(spec) = paused.spec.as_mut() {
        spec.paused = Some(true);
    }
    deployments.create(&PostParams::default(), &paused).await?;
    let mut scale = deployments.get_scale("paused").await?;
    println!("scale {:?}", replicas(&scale));
    scale.spec.get_or_insert_default().replicas = Some(2);
    scale.metadata.resource_version = None;
    println!(
        "scale replaced {:?}",
        replicas(
            &deployments
                .replace_scale("paused", &PostParams::default(), &scale)
                .await?
        )
    );
    let patch = Patch::Merge(json!({"spec": {"replicas": 1}}));
    println!(
        "scale patched {:?}",
        replicas(
            &deployments
                .patch_scale("paused", &PatchParams::default(), &patch)
                .await?
        )
    );
    let current = deployments.get("paused").await?;
    println!("generation {:?}", current.meta().generation);
    let condition =
        json!({"type": "Checked", "status": "True", "reason": "Checked", "message": "by kube-rs"});
    let status =
        Patch::Merge(json!({"status": {"conditions": [condition]}, "spec": {"replicas": 9}}));
    let patched = deployments
        .patch_status("paused", &PatchParams::default(), &status)
        .await?;
    let conditions: Vec<_> = patched
        .status
        .unwrap_or_default()
        .conditions
        .unwrap_or_default()
        .into_iter()
        .map(|c| c.type_)
        .collect();
    let wanted = patched.spec.and_then(|spec| spec.replicas);
    println!(
        "status has {}, spec stays {wanted:?}",
        conditions.contains(&"Checked".to_owned())
    );
    let negative = Patch::Merge(json!({"spec": {"replicas": -1}}));
    println!(
        "scale refused {}",
        refusal(
            deployments
                .patch_scale("paused", &PatchParams::default(), &negative)
                .await
        )
    );
    Ok(())
}

pub async fn rollout(client: &Client) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), NAMESPACE);
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    deployments
        .create(&PostParams::default(), &deployment("web", 2)?)
        .await?;
    await_condition(deployments.clone(), "web", is_deployment_completed()).await?;
    let status = deployments
        .get_status("web")
        .await?
        .status
        .unwrap_or_default();
    println!(
        "rolled out, {:?} ready of {:?}",
        status.ready_replicas, status.replicas
    );
    let listed = pods
        .list(&ListParams::default().labels("app=web"))
        .await?
        .items;
    let running = listed
        .iter()
        .filter(|pod| pod.status.as_ref().and_then(|s| s.phase.as_deref()) == Some("Running"));
    println!("pods running {}", running.count());
    if let Some(pod) = listed.first() {
        let status = pods
            .evict(&pod.name_any(), &kube::api::EvictParams::default())
            .await?;
        println!("evicted {:?} {}", status.status, status.code);
    }
    crate::delete(&deployments, "web").await
}

/// Two candidates for one lease: the resource version decides who has it.
pub async fn lease(client: &Client) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = json!({"holderIdentity": "first", "leaseDurationSeconds": 1, "renewTime": "2020-01-01T00:00:00.123456Z"});
    let made = leases
        .create(
            &PostParams::default(),
            &serde_json::from_value(json!({"metadata": {"name": "lead"}, "spec": spec}))?,
        )
        .await?;
    let take = |holder: &str| {
        let mut mine = made.clone();
        let spec = mine.spec.get_or_insert_default();
        spec.holder_identity = Some(holder.into());
        spec.lease_transitions = Some(spec.lease_transitions.unwrap_or(0) + 1);
        mine
    };
    let won = leases
        .replace("lead", &PostParams::default(), &take("second"))
        .await?;
    println!("lease {}", serde_json::to_string(&won.spec)?);
    println!(
        "late {}",
        refusal(
            leases
                .replace("lead", &PostParams::default(), &take("third"))
                .await
        )
    );
    Ok(())
}
