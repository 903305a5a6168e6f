"""What `from aks_infiniband import …` offers; a change here is a change for everybody who uses the library."""

import subprocess
import sys

import aks_infiniband
import pytest

from tests.unit.library.public import NAMES, named


def test_the_public_names_are_these() -> None:
    assert NAMES == [
        "AksCluster",
        "AksClusterArgs",
        "DriverUpgrade",
        "FeatureAbsence",
        "FeatureAbsenceArgs",
        "FeatureRegistration",
        "FeatureRegistrationArgs",
        "GpuOperator",
        "GpuOperatorArgs",
        "InfinibandNodePool",
        "InfinibandNodePoolArgs",
        "IpoibNetwork",
        "IpoibNetworkArgs",
        "MachineSize",
        "NetworkOperator",
        "NetworkOperatorArgs",
        "NicClusterPolicy",
        "NicClusterPolicyArgs",
        "NicNodePolicy",
        "NicNodePolicyArgs",
        "NodePreparation",
        "NodePreparationArgs",
        "OrdinaryNodePool",
        "OrdinaryNodePoolArgs",
        "PeermemLoader",
        "PeermemLoaderArgs",
        "Pool",
        "RdmaCluster",
        "RdmaClusterArgs",
        "Registry",
        "RegistryCredentials",
        "RegistryCredentialsArgs",
        "SIZES",
        "Settings",
        "SettingsError",
        "Validation",
        "ValidationArgs",
        "ValidationOptions",
        "Waits",
        "WorkloadSettings",
        "WorkloadSettingsArgs",
        "described",
        "load",
        "nccl_environment",
        "nccl_topology",
        "pod_template_fragment",
        "read_kubeconfig",
        "registry_credentials",
        "sample_job",
        "stack_configuration",
    ]


def test_every_public_name_is_found_and_listed() -> None:
    assert set(NAMES) <= set(dir(aks_infiniband))
    assert all(named(name) is not None for name in NAMES)


def test_a_name_that_is_not_public_is_not_found() -> None:
    with pytest.raises(AttributeError, match="no attribute 'NoSuchThing'"):
        aks_infiniband.NoSuchThing  # noqa: B018  the attribute access is the test


def test_the_catalogue_is_read_without_loading_pulumi() -> None:
    code = "import sys, aks_infiniband.facts.catalog; print('pulumi' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
