"""A stack file as it is written: models, rules, and the words in which mistakes are told."""

from aks_infiniband.stack.settings.mistakes import Mistake, SettingsError

__all__ = ["Mistake", "SettingsError"]
