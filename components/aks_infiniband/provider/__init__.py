"""The components for every language of Pulumi: the same classes, with inputs that a schema can describe.

Nothing is decided here: inputs become the arguments of the library's components, which make what they always make.
"""
