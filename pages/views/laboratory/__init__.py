"""The Laboratory: classes whose densities are known, base rates, the likelihood, and products that underflow."""
