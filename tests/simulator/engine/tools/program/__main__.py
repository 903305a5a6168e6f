"""A component resource of the kind that the configuration names."""

import pulumi
import pulumi_kubernetes as kubernetes

config = pulumi.Config()
options = pulumi.ResourceOptions(
    provider=kubernetes.Provider("rendered", render_yaml_to_directory=config.require("folder"))
)
if config.require("kind") == "ConfigGroup":
    kubernetes.yaml.v2.ConfigGroup("own", yaml="", opts=options)
else:
    kubernetes.helm.v4.Chart("own", chart="own", opts=options)
