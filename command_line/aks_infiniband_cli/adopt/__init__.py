"""Here lives the command `adopt`: a cluster that is there, and node pools that others have made, become a stack file
and what `pulumi import` needs. The library describes the properties of a pool and the requirements for a policy.
"""
