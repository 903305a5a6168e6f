"""The controllers of jobs, and Kueue before them: which module each is of, and what it is started with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

NAMESPACE: Final = "controllers"
"""The folder in which they find their files."""


@dataclass(frozen=True, kw_only=True)
class Controller:
    """One of them. definitions, webhooks: folders of its module. configuration: what its own file has."""

    package: str
    module: str
    definitions: str
    only: str = ""
    """The one definition of these that is wanted: others' controllers have some of the same names."""
    webhooks: str = ""
    configuration: Mapping[str, Any] | None = None
    flags: tuple[str, ...] = ()
    names_certificates: bool = False
    """True if its file names the folder of its certificates; else they are in controller-runtime's folder, below
    TMPDIR.
    """

    needs: str = ""
    """A folder below /etc in which it looks for a certificate all the same: it gets an /etc that has one."""

    def webhook(self, certificates: Path) -> dict[str, str]:
        """The part of its file on its webhook, without the address."""
        return {"certDir": str(certificates)} if self.names_certificates else {}


_WITHOUT_CERTIFICATES: Final = {"internalCertManagement": {"enable": False}}
_QUEUED: Final = (
    *("batch/job", "jobset.x-k8s.io/jobset", "trainer.kubeflow.org/trainjob", "kubeflow.org/mpijob"),
    *("kubeflow.org/pytorchjob", "leaderworkerset.x-k8s.io/leaderworkerset"),
)
"""The kinds of jobs that Kueue queues here: those of the examples."""
CONTROLLERS: Final = {
    "jobset": Controller(
        module="sigs.k8s.io/jobset",
        package="sigs.k8s.io/jobset",
        definitions="config/components/crd/bases",
        webhooks="config/components/webhook",
        configuration={"apiVersion": "config.jobset.x-k8s.io/v1alpha1", **_WITHOUT_CERTIFICATES},
    ),
    "lws": Controller(
        module="sigs.k8s.io/lws",
        package="sigs.k8s.io/lws/cmd",
        definitions="config/crd/bases",
        webhooks="config/webhook",
        configuration={"apiVersion": "config.lws.x-k8s.io/v1alpha1", **_WITHOUT_CERTIFICATES},
        names_certificates=True,
    ),
    "trainer": Controller(
        module="github.com/kubeflow/trainer/v2",
        package="github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager",
        definitions="manifests/base/crds",
        webhooks="manifests/base/webhook",
        configuration={"apiVersion": "config.trainer.kubeflow.org/v1alpha1", "certManagement": {"enable": False}},
    ),
    "kueue": Controller(
        module="sigs.k8s.io/kueue",
        package="sigs.k8s.io/kueue/cmd/kueue",
        definitions="config/components/crd/bases",
        webhooks="config/components/webhook",
        configuration={
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "integrations": {"frameworks": list(_QUEUED)},
            **_WITHOUT_CERTIFICATES,
        },
        flags=("-feature-gates=VisibilityOnDemand=false,TASReplaceNodeOnNodeTaints=false",),  # docs/scheduling.md
        names_certificates=True,
        needs="kueue/metrics/certs",
    ),
    "mpi-operator": Controller(
        module="github.com/kubeflow/mpi-operator",
        package="github.com/kubeflow/mpi-operator/cmd/mpi-operator",
        definitions="manifests/base",
        flags=("-kubeConfig={kubeconfig}", f"-lock-namespace={NAMESPACE}"),
    ),
    "training-operator": Controller(
        module="github.com/kubeflow/training-operator",
        package="github.com/kubeflow/training-operator/cmd/training-operator.v1",
        definitions="manifests/base/crds",
        only="kubeflow.org_pytorchjobs.yaml",
        flags=(
            "-enable-scheme=pytorchjob",
            "-webhook-server-port={webhook}",
            "-health-probe-bind-address=127.0.0.1:{health}",
            "-metrics-bind-address=127.0.0.1:{metrics}",
        ),
    ),
}
OF_JOBS: Final = tuple(name for name in CONTROLLERS if name != "kueue")
"""The controllers that make pods."""
