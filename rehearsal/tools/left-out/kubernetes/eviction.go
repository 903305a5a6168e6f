package eviction

import v1 "k8s.io/api/core/v1"

// PodIsEvicted says whether a kubelet has ended a pod for want of resources. It is all that the pod garbage collector
// asks of the kubelet.
func PodIsEvicted(status v1.PodStatus) bool {
	return status.Phase == v1.PodFailed && status.Reason == "Evicted"
}
