"""Whatever a command prints with ``--json``."""

from eigentoken.documents.atlas_document import AtlasDocument
from eigentoken.documents.attempt_document import AttemptDocument
from eigentoken.documents.basin_document import BasinDocument
from eigentoken.documents.chance_document import ChanceDocument
from eigentoken.documents.check_document import CheckDocument
from eigentoken.documents.classification_document import ClassificationDocument
from eigentoken.documents.compare_document import CompareDocument
from eigentoken.documents.conditions_document import ConditionsDocument
from eigentoken.documents.coq_document import CoqDocument
from eigentoken.documents.derive_document import DeriveDocument
from eigentoken.documents.doctor_document import DoctorDocument
from eigentoken.documents.explore_document import ExploreDocument
from eigentoken.documents.formal_document import FormalDocument
from eigentoken.documents.models_document import ModelsDocument
from eigentoken.documents.nearest_document import NearestDocument
from eigentoken.documents.recheck_document import RecheckDocument
from eigentoken.documents.recipes_document import RecipesDocument
from eigentoken.documents.refutation_document import RefutationDocument
from eigentoken.documents.reproduction_document import ReproductionDocument
from eigentoken.documents.simulation_document import SimulationDocument
from eigentoken.documents.spectrum_document import SpectrumDocument
from eigentoken.documents.statement_document import StatementDocument
from eigentoken.documents.statements_document import StatementsDocument
from eigentoken.documents.steer_document import SteerDocument
from eigentoken.documents.strengthen_document import StrengthenDocument
from eigentoken.documents.verdict_document import VerdictDocument
from eigentoken.documents.verify_document import VerifyDocument

__all__ = ["CommandDocument"]

CommandDocument = (
    AtlasDocument
    | AttemptDocument
    | BasinDocument
    | ChanceDocument
    | CheckDocument
    | ClassificationDocument
    | CompareDocument
    | ConditionsDocument
    | CoqDocument
    | DeriveDocument
    | DoctorDocument
    | ExploreDocument
    | FormalDocument
    | ModelsDocument
    | NearestDocument
    | RecheckDocument
    | RecipesDocument
    | RefutationDocument
    | ReproductionDocument
    | SimulationDocument
    | SpectrumDocument
    | StatementDocument
    | StatementsDocument
    | SteerDocument
    | StrengthenDocument
    | VerdictDocument
    | VerifyDocument
)
