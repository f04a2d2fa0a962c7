from retrieval.admin.communities import CommunityAdmin

__all__ = ["CommunityAdmin"]
