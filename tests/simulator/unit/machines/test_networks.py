"""Second networks: a definition that is missing, and Multus' output. The rest is in cases."""

import json

import pytest

from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.network.networks import Attachment, AttachmentError, Selection, configuration, network_status

IB = Selection(namespace="work", name="ib", interface="net1")


def test_a_network_that_is_not_there_is_named() -> None:
    words = r"cannot find a network-attachment-definition \(ib\) in namespace \(work\)"
    with pytest.raises(AttachmentError, match=words):
        configuration(IB, {})


def test_the_status_lists_the_ordinary_network_first() -> None:
    hca = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one").hcas[0]
    made = Attachment(selection=IB, device=hca, pool=("network-operator", "pool"), address="192.168.0.2")
    default, infiniband = json.loads(network_status("10.244.0.5", [made]))
    assert (default["ips"], default["default"]) == (["10.244.0.5"], True)
    assert (infiniband["name"], infiniband["interface"], infiniband["ips"]) == ("work/ib", "net1", ["192.168.0.2"])
    assert len(infiniband["mac"].split(":")) == 20
