"""Memory in the terms of other people's SDKs: one module for each, which needs that SDK and is imported by its name."""
