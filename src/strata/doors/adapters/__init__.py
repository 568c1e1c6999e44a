"""Strata behind other libraries' own interfaces, each an optional extra: LangGraph's store, the OpenAI Agents SDK's session."""
