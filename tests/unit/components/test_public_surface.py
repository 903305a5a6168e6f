"""What `from aks_infiniband import …` offers; a change here is a change for everybody who uses the library."""

import subprocess
import sys

import aks_infiniband


def test_the_public_names_are_these() -> None:
    assert sorted(aks_infiniband.__all__) == [
        "AksCluster",
        "AksClusterArgs",
        "FeatureRegistration",
        "FeatureRegistrationArgs",
        "GpuOperator",
        "GpuOperatorArgs",
        "InfinibandNodePool",
        "InfinibandNodePoolArgs",
        "NetworkOperator",
        "NetworkOperatorArgs",
        "NicClusterPolicy",
        "NicClusterPolicyArgs",
        "Pool",
        "RdmaCluster",
        "RdmaClusterArgs",
        "Settings",
        "SettingsError",
        "Validation",
        "ValidationArgs",
        "WorkloadSettings",
        "WorkloadSettingsArgs",
        "load",
        "stack_configuration",
    ]


def test_every_public_name_says_what_it_is() -> None:
    missing = [name for name in aks_infiniband.__all__ if not getattr(aks_infiniband, name).__doc__]
    assert missing == []


def test_the_catalogue_is_read_without_loading_pulumi() -> None:
    code = "import sys, aks_infiniband.catalog; print('pulumi' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"
