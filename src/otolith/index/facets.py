"""Where facets' common class was; it is in otolith.index.database."""

from otolith.index.database import Facet as Facet
