from connections.models.audit import (
    Audit,
    AuditCheck,
    AuditDetail,
    AuditHead,
    record_audit,
)
from connections.models.credential import ModelCredential
from connections.models.database import (
    Database,
    DatabaseChange,
    DatabaseColumn,
    DatabaseKey,
    DatabaseQuery,
    DatabaseTable,
)
from connections.models.saved_view import SavedView
from connections.models.source import Source, SyncError, SyncRun
from connections.models.tenancy import (
    Audience,
    AudienceMember,
    Membership,
    Project,
    Role,
    Tenant,
    User,
    UserAddress,
)
from connections.models.token import ApiToken, Scope
from connections.models.usage import ModelUsage

__all__ = [
    "ApiToken",
    "Audience",
    "AudienceMember",
    "Audit",
    "AuditCheck",
    "AuditDetail",
    "AuditHead",
    "Database",
    "DatabaseChange",
    "DatabaseColumn",
    "DatabaseKey",
    "DatabaseQuery",
    "DatabaseTable",
    "Membership",
    "ModelCredential",
    "ModelUsage",
    "Project",
    "Role",
    "SavedView",
    "Scope",
    "Source",
    "SyncError",
    "SyncRun",
    "Tenant",
    "User",
    "UserAddress",
    "record_audit",
]
