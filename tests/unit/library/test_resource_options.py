"""Resource options do, on every component, what a Pulumi user expects of them.

The components are found by looking: a new one needs arguments in arguments.py, and then it is tested.
"""

from collections.abc import Callable
from typing import Any

import pulumi
import pulumi_azure_native
import pulumi_kubernetes
import pytest

from declared.pulumi_mocks import Deploy, Deployment, Registration
from tests.unit.library.arguments import arguments
from tests.unit.library.public import COMPONENTS, named

NAME = "ours"
FEATURE_STATES = {"FeatureAbsence": ["NotRegistered"]}

pytestmark = pytest.mark.parametrize("component", COMPONENTS)


class Theirs(pulumi.ComponentResource):
    """A component of another program."""

    def __init__(self, name: str) -> None:
        super().__init__("theirs:index:Theirs", name)


@pytest.fixture
def made(deploy: Deploy, component: str) -> Callable[..., Deployment]:
    """Makes the component, with the options that a function gives, within the program that makes them."""

    def make(options: Callable[[], pulumi.ResourceOptions]) -> Deployment:
        def program() -> None:
            named(component)(NAME, args=arguments(component), opts=options())

        return deploy(program, feature_states=FEATURE_STATES.get(component, ["Registered"]))

    return make


def own(deployment: Deployment, component: str) -> Registration:
    """The component itself."""
    return deployment.one(f"aks-infiniband:index:{component}")


def below(deployment: Deployment, component: str, *, custom: bool = True) -> list[Registration]:
    """The resources that the component made, at any depth: those that a provider makes, or else the components."""
    known = {own(deployment, component).urn}
    found = []
    for resource in deployment.registrations:
        if resource.request.get("parent") in known:
            known.add(resource.urn)
            if bool(resource.request.get("custom")) is custom:
                found.append(resource)
    return found


def of_package(found: list[Registration], package: str) -> list[Registration]:
    return [item for item in found if item.type.startswith(f"{package}:")]


def provider_of(resource: Registration) -> str:
    """URN of the provider that makes a resource."""
    return str(resource.request.get("provider", "")).rpartition("::")[0]


def test_its_providers_make_what_it_makes(component: str, made: Callable[..., Deployment]) -> None:
    def options() -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions(
            providers=[
                pulumi_kubernetes.Provider("theirs", kubeconfig="{}"),
                pulumi_azure_native.Provider("theirs", location="westus"),
            ]
        )

    deployment = made(options)
    theirs = {resource.type: resource.urn for resource in deployment.registrations if resource.name == "theirs"}
    found = below(deployment, component)
    for resource in of_package(found, "azure-native"):
        assert provider_of(resource) == theirs["pulumi:providers:azure-native"], resource.urn
    # A cluster that is made here has a separate provider: no other could reach it.
    inner = [resource.urn for resource in of_package(found, "pulumi") if resource.type == "pulumi:providers:kubernetes"]
    for item in of_package(found, "kubernetes"):
        assert provider_of(item) in (inner or [theirs["pulumi:providers:kubernetes"]]), item.urn


def test_it_stands_below_its_parent_and_all_it_makes_below_it(component: str, made: Callable[..., Deployment]) -> None:
    deployment = made(lambda: pulumi.ResourceOptions(parent=Theirs("theirs")))
    assert own(deployment, component).parent == "theirs"
    others = {"pulumi:providers:azure-native", "pulumi:providers:kubernetes", "theirs:index:Theirs"}
    everything = {resource.urn for resource in deployment.registrations if resource.type not in others}
    inner = [*below(deployment, component), *below(deployment, component, custom=False)]
    assert everything - {item.urn for item in inner} == {own(deployment, component).urn}


def test_all_that_it_makes_waits_for_what_it_depends_on(component: str, made: Callable[..., Deployment]) -> None:
    deployment = made(lambda: pulumi.ResourceOptions(depends_on=[pulumi_azure_native.resources.ResourceGroup("first")]))
    made_by_it = below(deployment, component)
    waiting = {resource.name for resource in made_by_it if "first" in resource.dependencies}
    for resource in made_by_it:
        # A resource that waits for another resource of the component has the same dependencies as that one.
        assert {"first", *waiting}.intersection(resource.dependencies), resource.urn


def test_all_that_it_makes_goes_with_what_it_is_deleted_with(component: str, made: Callable[..., Deployment]) -> None:
    deployment = made(
        lambda: pulumi.ResourceOptions(deleted_with=pulumi_azure_native.resources.ResourceGroup("cluster"))
    )
    outer = {"cluster", NAME, f"{NAME}-rdma"}
    for resource in below(deployment, component):
        assert resource.deleted_with in outer, resource.urn


def test_all_that_it_makes_is_protected_with_it(component: str, made: Callable[..., Deployment]) -> None:
    deployment = made(lambda: pulumi.ResourceOptions(protect=True))
    unprotected = [resource.urn for resource in below(deployment, component) if not resource.request.get("protect")]
    assert unprotected == []


def test_what_it_made_under_another_name_is_still_the_same(component: str, made: Callable[..., Deployment]) -> None:
    deployment = made(lambda: pulumi.ResourceOptions(aliases=[pulumi.Alias(name="earlier")]))
    assert [alias["spec"]["name"] for alias in own(deployment, component).request["aliases"]] == ["earlier"]
    # The engine gives a child its parent's aliases, and replaces the parent's name if the child's begins with it.
    astray = [resource.urn for resource in below(deployment, component) if not resource.name.startswith(NAME)]
    assert astray == []


def test_its_transformations_see_all_that_it_makes(component: str, made: Callable[..., Deployment]) -> None:
    seen: list[str] = []

    def look(args: pulumi.ResourceTransformationArgs) -> Any:
        seen.append(args.name)

    deployment = made(lambda: pulumi.ResourceOptions(transformations=[look]))
    expected = {
        resource.name
        for resource in [
            *below(deployment, component),
            *below(deployment, component, custom=False),
            own(deployment, component),
        ]
    }
    assert expected - set(seen) == set()
