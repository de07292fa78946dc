//! The categories of role accounts.

use crate::names::names;

names! {
    /// The category of a role account, such as support@example.org.
    Role {
        Admin = "Admin",
        Support = "Support",
        Sales = "Sales",
        Marketing = "Marketing",
        General = "General",
        NoReply = "NoReply",
        Billing = "Billing",
        Legal = "Legal",
        It = "IT",
        Hr = "HR",
    }
}
