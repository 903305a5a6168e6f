"""Stack files with addresses that cannot be, with the mistake that each holds."""

from typing import Any

from tests.unit.components.stack_files import changed, cluster


def network(**more: Any) -> Any:
    return changed(cluster=cluster(network=more))


def with_ipoib(**more: Any) -> Any:
    return changed(networkOperator={"mode": "ipoib", "ipoib": more})


NEVER = ("127.0.0.0/16", "224.0.0.0/16", "255.255.0.0/16", "168.63.0.0/16", "0.0.0.0/8")
ADDRESSES: dict[str, tuple[Any, str, str]] = {
    **{
        f"{key} {never}": (network(**{key: never}), f"cluster.network.{key}", "which no network of Azure has")
        for key in ("addressSpace", "podCidr")
        for never in NEVER
    },
    **{
        f"IPoIB in {never}": (with_ipoib(range=never), "networkOperator.ipoib.range", "which no network of Azure has")
        for never in NEVER
    },
    "Azure's own address": (
        changed(cluster=cluster(apiServer={"authorizedIpRanges": ["168.63.129.16/32"]})),
        "cluster.apiServer.authorizedIpRanges[0]",
        "overlaps 168.63.129.16/32",
    ),
    **{
        f"gateway {gateway}": (
            with_ipoib(range="192.168.0.0/20", gateway=gateway),
            "networkOperator.ipoib.gateway",
            "neither its first address nor its last",
        )
        for gateway in ("192.168.0.0", "192.168.15.255", "10.0.0.1")
    },
    "a gateway that is a number": (with_ipoib(gateway=3232235521), "networkOperator.ipoib.gateway", "in quotes"),
}
