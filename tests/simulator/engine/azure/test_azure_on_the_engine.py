"""A program's whole life on the real engine and the simulated Azure."""

import json

from lightkube import Client, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Namespace

from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from tests.simulator.engine.azure.conftest import Stack


def test_a_stack_comes_up_stays_changes_and_goes(stack: Stack) -> None:
    up = stack.run("up")
    assert up.succeeded, up.errors
    assert stack.pools() == ["ndh100", "ndh100", "system"]
    machine = next(node for name, node in stack.nodes().items() if "ndh100" in name)
    assert machine.metadata
    assert machine.metadata.annotations
    assert json.loads(machine.metadata.annotations[MACHINE_ANNOTATION])["size"] == "Standard_ND96isr_H100_v5"
    assert "[secret]" in json.dumps(stack.engine.outputs())

    again = stack.run("up")
    assert (again.succeeded, again.operations) == (True, {}), again

    scaled = stack.run("up", count=3, systemCount=2)
    assert scaled.operations == {"ndh100": ["update"], "aks": ["update"]}, scaled
    assert scaled.succeeded, scaled.errors
    assert stack.pools() == ["ndh100"] * 3 + ["system"] * 2

    refused = stack.run("up", count=3, systemCount=2, osDiskSizeGb=512)
    assert not refused.succeeded
    assert 'Code="PropertyChangeNotAllowed"' in refused.errors
    assert "properties.osDiskSizeGB" in refused.errors

    replaced = stack.run("up", count=1, systemCount=2, vmSize="Standard_HB120rs_v3")
    assert replaced.succeeded, replaced.errors
    assert replaced.operations["ndh100"][-1] == "create-replacement"
    assert stack.pools() == ["ndh100", "system", "system"]

    client = Client(config=KubeConfig.from_file(str(stack.run_folder.kubeconfig)), trust_env=False)
    client.create(Namespace(metadata=ObjectMeta(name="left-behind", finalizers=["example.com/nobody"])))
    client.create(
        ConfigMap(metadata=ObjectMeta(name="left", namespace="left-behind", finalizers=["example.com/nobody"]))
    )
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.errors
    assert stack.holds() == ["azure-native:features:SubscriptionFeatureRegistration"], "the subscription keeps it"
    assert stack.nodes() == {}
    namespaces = {namespace.metadata.name for namespace in client.list(Namespace) if namespace.metadata}
    assert namespaces == {"default", "kube-system", "kube-public", "kube-node-lease"}

    fresh = stack.run("up", count=1)
    assert fresh.succeeded, fresh.errors
    assert stack.pools() == ["ndh100", "system"]


def test_a_preview_shows_a_sound_program_and_refuses_a_mistake(stack: Stack) -> None:
    sound = stack.run("preview")
    assert sound.succeeded, sound.errors
    preview = stack.run("preview", driver="Nvidia")
    assert not preview.succeeded
    assert "'gpuProfile.driver' is 'Nvidia'; it must be one of 'Install', 'None'" in preview.errors
    assert stack.nodes() == {}
