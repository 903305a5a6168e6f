"""Here lives the command `adopt`: a cluster that is there, and node pools that others have made, become a stack file
and what `pulumi import` needs. What a pool is asked for, and what a policy must have, is described in the library.
"""
