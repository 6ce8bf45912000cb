"""Uses an API server the way programs on the Python client do. Each function says what holds."""

import sys
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException

config.load_kube_config(config_file=sys.argv[1])
core = client.CoreV1Api()
apps = client.AppsV1Api()
custom = client.CustomObjectsApi()
definitions = client.ApiextensionsV1Api()
namespace = "python-client"


def objects_are_created_read_changed_and_deleted():
    made = core.create_namespaced_config_map(
        namespace, {"metadata": {"name": "a", "labels": {"l": "1"}}, "data": {"k": "1"}}
    )
    assert made.metadata.uid and made.data == {"k": "1"}
    assert core.read_namespaced_config_map("a", namespace).data == {"k": "1"}
    made.data = {"k": "2"}
    assert core.replace_namespaced_config_map("a", namespace, made).data == {"k": "2"}
    patched = core.patch_namespaced_config_map("a", namespace, {"data": {"z": "3"}})
    assert patched.data == {"k": "2", "z": "3"}
    assert [i.metadata.name for i in core.list_namespaced_config_map(namespace, label_selector="l=1").items] == ["a"]
    core.delete_namespaced_config_map("a", namespace)
    try:
        core.read_namespaced_config_map("a", namespace)
        raise AssertionError("it is still there")
    except ApiException as error:
        assert error.status == 404 and "NotFound" in error.body


def stale_writes_are_conflicts():
    made = core.create_namespaced_config_map(namespace, {"metadata": {"name": "b"}, "data": {"k": "1"}})
    core.patch_namespaced_config_map("b", namespace, {"data": {"k": "2"}})
    try:
        core.replace_namespaced_config_map("b", namespace, made)
        raise AssertionError("a stale write went through")
    except ApiException as error:
        assert error.status == 409


def lists_come_in_pages():
    for index in range(5):
        core.create_namespaced_secret(namespace, {"metadata": {"name": f"s{index}"}, "string_data": {"a": "b"}})
    page = core.list_namespaced_secret(namespace, limit=2)
    seen = [item.metadata.name for item in page.items]
    while page.metadata._continue:
        page = core.list_namespaced_secret(namespace, limit=2, _continue=page.metadata._continue)
        seen += [item.metadata.name for item in page.items]
    assert [name for name in seen if name.startswith("s")] == [f"s{index}" for index in range(5)]


def a_watch_sees_every_change():
    version = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "w"}})
    core.patch_namespaced_config_map("w", namespace, {"data": {"a": "1"}})
    core.delete_namespaced_config_map("w", namespace)
    seen = [
        (event["type"], event["object"].metadata.name)
        for event in watch.Watch().stream(
            core.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=1
        )
    ]
    assert seen == [("ADDED", "w"), ("MODIFIED", "w"), ("DELETED", "w")], seen


def a_deployment_rolls_out():
    container = client.V1Container(name="main", image="registry.k8s.io/pause:3.10.1")
    labels = {"app": "web"}
    template = client.V1PodTemplateSpec(
        metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container])
    )
    spec = client.V1DeploymentSpec(replicas=2, selector=client.V1LabelSelector(match_labels=labels), template=template)
    apps.create_namespaced_deployment(
        namespace, client.V1Deployment(metadata=client.V1ObjectMeta(name="web"), spec=spec)
    )
    apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})
    end = time.time() + 30
    while (apps.read_namespaced_deployment_status("web", namespace).status.available_replicas or 0) < 3:
        assert time.time() < end, "the deployment does not become available"
        time.sleep(0.1)


def wait_until_served(*at):
    """A definition takes a moment to be served: a real server is not done when it answers."""
    end = time.time() + 30
    while time.time() < end:
        try:
            custom.list_namespaced_custom_object(*at)
            return
        except ApiException as error:
            assert error.status == 404
            time.sleep(0.1)
    raise AssertionError("the definition is never served")


def custom_objects_are_served():
    definitions.create_custom_resource_definition(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.python.example.com"},
            "spec": {
                "group": "python.example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "subresources": {"status": {}},
                        "schema": {
                            "openAPIV3Schema": {
                                "type": "object",
                                "properties": {
                                    "spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}}},
                                    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                                },
                            }
                        },
                    }
                ],
            },
        }
    )
    at = ("python.example.com", "v1", namespace, "things")
    wait_until_served(*at)
    thing = {"apiVersion": "python.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 1}}
    custom.create_namespaced_custom_object(*at, thing)
    custom.patch_namespaced_custom_object_status(*at, "t", {"status": {"phase": "Ready"}})
    read = custom.get_namespaced_custom_object(*at, "t")
    assert read["status"] == {"phase": "Ready"} and read["metadata"]["generation"] == 1
    try:
        custom.create_namespaced_custom_object(*at, {**thing, "metadata": {"name": "u"}, "spec": {"size": -1}})
        raise AssertionError("what breaks the schema was taken")
    except ApiException as error:
        assert error.status == 422
    custom.delete_namespaced_custom_object(*at, "t")


def server_side_apply_tells_of_conflicts():
    dyn = dynamic.DynamicClient(client.ApiClient())
    maps = dyn.resources.get(api_version="v1", kind="ConfigMap")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"a": "1"}}
    dyn.server_side_apply(maps, body=body, name="applied", namespace=namespace, field_manager="one")
    try:
        dyn.server_side_apply(
            maps, body={**body, "data": {"a": "2"}}, name="applied", namespace=namespace, field_manager="two"
        )
        raise AssertionError("another manager's field was taken")
    except ApiException as error:
        assert error.status == 409
    forced = dyn.server_side_apply(
        maps, body={**body, "data": {"a": "2"}}, name="applied", namespace=namespace, field_manager="two", force_conflicts=True
    )
    assert forced.data.a == "2"


core.create_namespace({"metadata": {"name": namespace}})
checks = [
    objects_are_created_read_changed_and_deleted,
    stale_writes_are_conflicts,
    lists_come_in_pages,
    a_watch_sees_every_change,
    a_deployment_rolls_out,
    custom_objects_are_served,
    server_side_apply_tells_of_conflicts,
]
try:
    for check in checks:
        check()
        print("ok", check.__name__.replace("_", " "))
finally:
    if "things.python.example.com" in [d.metadata.name for d in definitions.list_custom_resource_definition().items]:
        definitions.delete_custom_resource_definition("things.python.example.com")
    core.delete_namespace(namespace)
    while namespace in [n.metadata.name for n in core.list_namespace().items]:
        time.sleep(0.1)
