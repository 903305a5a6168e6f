"""Templates of jobs leave the pool's template as it was; what they make of it is in cases/job.yaml."""

import copy

from aks_infiniband import pod_template_fragment
from aks_infiniband.workload.checked import Workload

from tests.some_pools import pool
from tests.unit.workload.cases.families import JOBS


def test_the_pools_template_is_left_as_it_was() -> None:
    template = pod_template_fragment(pool(mode="ipoib"))
    before = copy.deepcopy(template)
    for job in JOBS.values():
        job(Workload(name="train", namespace="training", machines=2, image="ours", template=template))
    assert template == before
