"""The operators of a stack: their charts, and the Helm values that follow from pools and settings."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from aks_infiniband.facts.amd import AMD_GPU_OPERATOR_CHART, CERT_MANAGER_CHART
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import OPERATOR_RELEASES, Release
from aks_infiniband.facts.versions import DRA_DRIVER_CHART, Chart
from aks_infiniband.operators import charts
from aks_infiniband.operators.amd_gpu_operator import (
    AmdOptions,
    amd_gpu_operator_values,
    builds_driver,
    is_amd_pool,
)
from aks_infiniband.operators.cert_manager import cert_manager_values
from aks_infiniband.operators.device_config import device_config_spec
from aks_infiniband.operators.dra_driver import check_gpu_driver, dra_driver_values
from aks_infiniband.operators.gpu_operator import check_driver, gpu_operator_values, is_gpu_pool
from aks_infiniband.operators.network_operator import network_operator_values
from aks_infiniband.operators.release import SYSTEM_POOL, OperatorOptions
from aks_infiniband.resources.registry import PULL_SECRET, Registry
from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError
from aks_infiniband.stack.settings.operators import ChartSettings
from aks_infiniband.stack.settings.reading import Reading


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One of the operators."""

    title: str
    """The name that people use."""
    pinned: Chart
    """The chart that this program knows."""
    chart: charts.ChartSource
    given: Mapping[str, Any]
    """The Helm values that people give."""
    values: Mapping[str, Any]
    """Values that people gave, with what follows from the stack."""


@dataclass(frozen=True)
class Operators:
    """Each operator, computed once. After a reading with holes some of them raise Unreadable, and SettingsError if Helm
    values contradict what follows from the pools.
    """

    reading: Reading
    has_credentials: bool
    """True if the registry of images requires a login, and it is given."""

    @cached_property
    def registry(self) -> Registry:
        """The source of images."""
        secret = PULL_SECRET if self.has_credentials else None
        return Registry(images=self.reading.settings.registry.images, pull_secret=secret)

    @cached_property
    def pools(self) -> tuple[Pool, ...]:
        """The pools with InfiniBand."""
        return tuple(pool.facts for pool in self.reading.infiniband_pools)

    @property
    def release(self) -> Release:
        """The release of both of NVIDIA's operators."""
        return OPERATOR_RELEASES[self.reading.settings.release]

    @cached_property
    def network(self) -> Operator | None:
        """The Network Operator; None if others keep one."""
        settings = self.reading.settings.network_operator
        if settings.existing:
            return None
        with _told("networkOperator"):
            people = charts.given_values(
                settings.values_file, settings.values, named="values_file" in settings.model_fields_set
            )
            values = network_operator_values(
                self.pools,
                given=people,
                feature_discovery=not self.reading.settings.gpu_operator.existing,
                system_node_selector=self._system_node_selector,
                registry=self.registry,
            )
            return self._operator(
                "Network Operator", self.release.network_operator.chart, settings.chart, people, values
            )

    @cached_property
    def gpu(self) -> Operator | None:
        """NVIDIA's GPU Operator; None if it would not have work, or if another owner keeps one."""
        settings = self.reading.settings.gpu_operator
        if settings.existing:
            return None
        with _told("gpuOperator"):
            people = charts.given_values(
                settings.values_file, settings.values, named="values_file" in settings.model_fields_set
            )
            if not any(map(is_gpu_pool, self.pools)):
                return None
            values = gpu_operator_values(
                self.pools,
                given=people,
                options=self._options(settings.driver_version),
                metrics=self.reading.settings.observability is not None,
                accept_visible_devices_envvar=settings.accept_visible_devices_envvar,
                system_node_selector=self._system_node_selector,
            )
            operator = self._operator("GPU Operator", self.release.gpu_operator.chart, settings.chart, people, values)
            check_driver(self.pools, chart=operator.chart, values=values)
            check_gpu_driver(self.pools, values)
            return operator

    @cached_property
    def dra(self) -> Operator | None:
        """NVIDIA's DRA driver for GPUs; None if no pool's machines share an NVLink domain."""
        settings = self.reading.settings.dra_driver
        if not any(pool.has_compute_domain for pool in self.pools):
            return None
        with _told("draDriver"):
            values = dra_driver_values(
                self.pools,
                given=settings.values,
                system_node_selector=self._system_node_selector,
                registry=self.registry,
            )
            return self._operator("DRA driver", DRA_DRIVER_CHART, settings.chart, settings.values, values)

    @cached_property
    def amd_options(self) -> AmdOptions:
        """The options of AMD's GPU Operator that are alike for all pools."""
        settings = self.reading.settings.amd_gpu_operator
        return AmdOptions(
            operator=self._options(settings.driver_version),
            driver_image=settings.driver_image,
            remediation=settings.remediation,
            device_config=settings.device_config,
        )

    @cached_property
    def amd(self) -> Operator | None:
        """AMD's GPU Operator; None if it would not have work."""
        settings = self.reading.settings.amd_gpu_operator
        if not any(map(is_amd_pool, self.pools)):
            return None
        with _told("amdGpuOperator"):
            values = amd_gpu_operator_values(
                self.pools,
                given=settings.values,
                options=self.amd_options,
                system_node_selector=self._system_node_selector,
            )
            for pool in filter(is_amd_pool, self.pools):
                device_config_spec(pool, self.amd_options)
            return self._operator("AMD GPU Operator", AMD_GPU_OPERATOR_CHART, settings.chart, settings.values, values)

    @cached_property
    def cert_manager(self) -> Operator | None:
        """cert-manager; None if nothing needs it, or if another owner keeps one."""
        settings = self.reading.settings.cert_manager
        there = self.reading.settings.existing_cluster is not None if settings.existing is None else settings.existing
        if there or not builds_driver(self.pools):
            return None
        with _told("certManager"):
            values = cert_manager_values(
                self.pools,
                given=settings.values,
                system_node_selector=self._system_node_selector,
                registry=self.registry,
            )
            return self._operator("cert-manager", CERT_MANAGER_CHART, settings.chart, settings.values, values)

    @cached_property
    def _system_node_selector(self) -> Mapping[str, str]:
        """The selector of the nodes that the operators run on."""
        existing = self.reading.settings.existing_cluster
        return SYSTEM_POOL if existing is None else existing.system_node_selector

    @property
    def installed(self) -> list[Operator]:
        """The operators with a chart to install."""
        every = (self.network, self.gpu, self.dra, self.amd, self.cert_manager)
        return [operator for operator in every if operator is not None]

    def _operator(
        self, title: str, pinned: Chart, asked: ChartSettings, given: Mapping[str, Any], values: Mapping[str, Any]
    ) -> Operator:
        own = {"name": asked.name, "repository": asked.repository, "version": asked.version}
        chart = charts.there(charts.chart_source(pinned, **own, location=self.reading.settings.registry.charts))
        return Operator(title=title, pinned=pinned, chart=chart, given=given, values=values)

    @cached_property
    def options(self) -> OperatorOptions:
        """The options of the Network Operator that are alike for all pools."""
        return self._options(self.reading.settings.network_operator.driver_version)

    def _options(self, driver_version: str | None) -> OperatorOptions:
        upgrade = self.reading.settings.network_operator.upgrade
        return OperatorOptions(
            release=self.release, driver_version=driver_version, upgrade=upgrade, registry=self.registry
        )


@contextmanager
def _told(operator: str) -> Iterator[None]:
    """Report mistakes in an operator's Helm values under the keys of its section."""
    try:
        yield
    except charts.ValuesError as error:
        if not error.mistakes:
            raise
        mistakes = [Mistake(key=f"aks-infiniband:{operator}.{key}", reason=reason) for key, reason in error.mistakes]
        raise SettingsError(tuple(mistakes)) from error
