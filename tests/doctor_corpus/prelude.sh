# What the breaks in breaks.yaml are written with, beside kubectl.
set -euo pipefail

# save KIND NAME [-n NAMESPACE]: keep an object, for `restore` to make it again.
save() {
  kubectl get "$@" -o json | python -c '
import json, sys
item = json.load(sys.stdin)
for key in ("resourceVersion", "uid", "creationTimestamp", "managedFields", "ownerReferences", "generation"):
    item["metadata"].pop(key, None)
if item["kind"] != "Node":
    item.pop("status", None)
print(json.dumps(item))' >> "$SAVED"
}
restore() { kubectl create -f "$SAVED" > /dev/null; }

# job NAME RESOURCES [PYTHON] [NAMESPACE] [ANNOTATIONS] [ENV]: a user's Job of two pods, as workloads.md has them.
job() {
  local name=$1 resources=$2 command="${3:-import signal; signal.pause()}" namespace=${4:-apps} annotations=${5:-} env=${6:-}
  kubectl get namespace "$namespace" > /dev/null 2>&1 || kubectl create namespace "$namespace" > /dev/null
  kubectl apply -f - > /dev/null <<YAML
apiVersion: batch/v1
kind: Job
metadata: {name: $name, namespace: $namespace}
spec:
  parallelism: ${PODS:-2}
  completions: ${PODS:-2}
  backoffLimit: 0
  template:
    metadata: {annotations: {$annotations}}
    spec:
      restartPolicy: Never
      nodeSelector: {${SELECTOR:-}}
      tolerations: [${TOLERATIONS:-}]
      terminationGracePeriodSeconds: 1
      containers:
        - name: main
          image: nvcr.io/nvidia/pytorch:25.12-py3
          command: [python3, -c, "$command"]
          env: [$env]
          resources: {limits: {$resources}}
          securityContext: {capabilities: {add: [${CAPABILITY-IPC_LOCK}]}}
YAML
}
no_jobs() { kubectl delete namespace "${1:-apps}" --wait=true > /dev/null; }

# webhook KIND SERVICE [SELECTOR]: a webhook of every pod, that a service answers which is not there.
webhook() {
  kubectl apply -f - > /dev/null <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: $1
metadata: {name: team-checks}
webhooks:
  - name: pods.team.example
    admissionReviewVersions: [v1]
    sideEffects: None
    timeoutSeconds: 1
    clientConfig: {service: {name: $2, namespace: team, path: /pods}}
    namespaceSelector: {${3:-}}
    rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
YAML
}
